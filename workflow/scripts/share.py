"""Point to finished files and push them to the DVC remote."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.jobs.sharing import share

    share(".", list(snakemake.input), snakemake.params.closed)
