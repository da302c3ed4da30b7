"""Read one ARFF file into a tidy table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.weka_uci import extract

    extract(snakemake.input.raw, snakemake.output.tidy, snakemake.output.cohort)
