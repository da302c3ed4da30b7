"""Make the features of one diabetes data set under one protocol, and count its cohort."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import Protocol
    from deepcac.cohort import write_cohort
    from deepcac.features.diabetes import diabetes
    from deepcac.features.matrix import write_features

    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    features, flow = diabetes(snakemake.wildcards.table, snakemake.input.tidy, protocol)
    write_features(snakemake.output.features, features)
    write_cohort(snakemake.output.cohort, flow, unit="patient", label=features.label)
