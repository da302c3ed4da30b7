"""Read the telescope events into a tidy table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.flat_tables import extract_magic

    extract_magic(snakemake.input.raw, snakemake.output.tidy, snakemake.output.cohort)
