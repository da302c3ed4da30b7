"""Make the features of one data set from its tidy tables, and describe the cohort."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.entries import Step
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.jobs.steps import build_features

    params = snakemake.params
    build_features(
        Step.model_validate(params.step),
        snakemake.input,
        snakemake.output.features,
        protocol=Protocol.from_folder(snakemake.wildcards.get("variant", "")),
        options=params.options,
        cohort=snakemake.output.get("cohort"),
        unit=params.unit,
    )
