"""Make the static sepsis features of one protocol, and count its cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import Protocol
    from deepcac.cohort import write_cohort
    from deepcac.features.matrix import write_features
    from deepcac.features.sepsis import sepsis

    features, flow = sepsis(snakemake.input.tidy, Protocol.from_folder(snakemake.wildcards.variant))
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="ICU stay", label=features.label)
