"""Make the features of one data set from its tidy tables, and describe the cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.entries import Step
    from deepcac.catalogue.protocol import Protocol
    from deepcac.steps import build_features

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
