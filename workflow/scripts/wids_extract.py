"""Read training_v2.csv of the WiDS Datathon 2020 into a checked, typed table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.wids import extract

    extract(snakemake.input.raw, snakemake.output.tidy)
