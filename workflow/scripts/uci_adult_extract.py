"""Pool the two raw files of Adult into one tidy table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.flat_tables import extract_adult

    raw, out = snakemake.input, snakemake.output
    extract_adult(raw.train, raw.test, out.tidy, out.cohort)
