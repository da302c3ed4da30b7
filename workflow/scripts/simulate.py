"""Write the raw files of one generated cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.entries import Step
    from deepcac.steps import transform

    params = snakemake.params
    transform(Step.model_validate(params.step), [], snakemake.output, n=params.n)
