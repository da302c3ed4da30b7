"""Make the tidy tables of one source from its raw files."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.catalogue.entries import Step
    from deepcac.catalogue.registry import load_registry, registry_folder
    from deepcac.raw.fetch import check_raw
    from deepcac.steps import transform

    if snakemake.params.fetched:  # an open source: what was edited since is not trusted
        project = Path(snakemake.scriptdir).resolve().parents[1]
        check_raw(load_registry(registry_folder(project)), snakemake.input)
    transform(
        Step.model_validate(snakemake.params.step),
        snakemake.input,
        snakemake.output,
        threads=snakemake.threads,
        scratch=snakemake.resources.tmpdir,
    )
