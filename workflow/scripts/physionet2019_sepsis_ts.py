"""Make the hourly sepsis features, and count their cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.cohort import write_cohort
    from deepcac.features.matrix import write_features
    from deepcac.features.sepsis import sepsis_ts

    features, flow = sepsis_ts(snakemake.input.tidy)
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="ICU stay", label=features.label)
