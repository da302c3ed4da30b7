"""Make the tidy tables of one source from its raw files."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.entries import Step
    from deepcac.steps import transform

    transform(
        Step.model_validate(snakemake.params.step),
        snakemake.input,
        snakemake.output,
        threads=snakemake.threads,
        scratch=snakemake.resources.tmpdir,
    )
