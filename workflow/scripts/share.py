"""Point to finished files and push them to the DVC remote."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sharing import share

    share(".", list(snakemake.input), snakemake.params.closed)
