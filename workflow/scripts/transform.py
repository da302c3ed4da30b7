"""Make the tidy tables of a source from its raw files, or the raw files of a generated cohort."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac_study.catalogue.entries import Step
    from deepcac_study.catalogue.registry import load_registry, registry_folder
    from deepcac_study.jobs.steps import transform
    from deepcac_study.raw.fetch import check_raw

    params = snakemake.params
    if params.fetched:  # an open source: what was edited since is not trusted
        project = Path(snakemake.config["project"])
        check_raw(load_registry(registry_folder(project)), snakemake.input)
    transform(
        Step.model_validate(params.step),
        snakemake.input,
        snakemake.output,
        threads=snakemake.threads,
        scratch=snakemake.resources.tmpdir,
        n=params.n,
    )
