"""Count the encounters that are left after each exclusion."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features.diabetes import write_cohort

    write_cohort(snakemake.input.tidy, snakemake.output.flow)
