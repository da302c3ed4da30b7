"""Turn the archive of UCI 296 into one tidy table of encounters."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.uci_diabetes import extract

    extract(snakemake.input.archive, snakemake.output.tidy)
