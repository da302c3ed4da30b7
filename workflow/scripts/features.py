"""Make the features of one data set from its tidy tables, and describe the cohort."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac_study.catalogue.entries import Step
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.jobs.steps import build_features

    names, params = snakemake.wildcards, snakemake.params
    build_features(
        Step.model_validate(params.step),
        Path(*snakemake.input),
        snakemake.output.features,
        snakemake.output.cohort,
        dataset=names.dataset,
        protocol=Protocol.from_folder(names.get("variant", "")),
        options=params.options,
        unit=params.unit,
    )
