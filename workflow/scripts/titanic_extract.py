"""Read the passenger list into a tidy table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.flat_tables import extract_titanic

    extract_titanic(snakemake.input.raw, snakemake.output.tidy, snakemake.output.cohort)
