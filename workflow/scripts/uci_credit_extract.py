"""Read the credit card clients into a tidy table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.flat_tables import extract_credit

    extract_credit(snakemake.input.raw, snakemake.output.tidy, snakemake.output.cohort)
