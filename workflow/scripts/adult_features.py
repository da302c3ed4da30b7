"""Encode Adult for one protocol."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import Protocol
    from deepcac.features.flat import adult
    from deepcac.features.matrix import write_features
    from deepcac.storage import read_table

    protocol = Protocol.from_folder(snakemake.wildcards.variant)
    features = adult(read_table(snakemake.input.tidy), protocol)
    write_features(snakemake.output.features, features)
