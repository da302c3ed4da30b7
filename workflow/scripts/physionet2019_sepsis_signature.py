"""Make the signature features of the record six hours before sepsis, and count their cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.cohort import write_cohort
    from deepcac.features.matrix import write_features
    from deepcac.features.sepsis_signature import sepsis_signature

    features, flow = sepsis_signature(snakemake.input.tidy, snakemake.params.backend)
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="ICU stay", label=features.label)
