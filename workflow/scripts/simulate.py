"""Write the raw files of one generated cohort."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.entries import Step
    from deepcac_study.jobs.steps import transform

    params = snakemake.params
    transform(Step.model_validate(params.step), [], snakemake.output, n=params.n)
