"""Make the tidy tables of a source from its raw files, or the raw files of a generated cohort."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac_study.catalogue.entries import Step
    from deepcac_study.catalogue.registry import load_registry, registry_folder
    from deepcac_study.jobs.steps import transform
    from deepcac_study.raw.fetch import check_raw

    params, first = snakemake.params, Path(*snakemake.input[:1])
    if first.is_file():
        registry = load_registry(registry_folder(Path(snakemake.config["project"])))
        if not registry.source(snakemake.wildcards.source).restricted:
            check_raw(registry, snakemake.input)  # fetched; what was edited since is not trusted
    transform(
        Step.model_validate(params.step),
        first.parent if first.is_file() else first,
        Path(snakemake.output[0]),
        threads=snakemake.threads,
        scratch=snakemake.resources.tmpdir,
        n=params.get("n"),
    )
