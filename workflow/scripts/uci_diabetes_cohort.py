"""Count the encounters that are left after each exclusion."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features.diabetes import write_flow

    write_flow(snakemake.input.tidy, snakemake.output.flow)
