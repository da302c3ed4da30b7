"""Build the features of one diabetes data set under one protocol."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features.diabetes import build
    from deepcac.protocol import Protocol

    build(
        snakemake.wildcards.table,
        snakemake.input.tidy,
        snakemake.output.features,
        protocol=Protocol.from_folder(snakemake.wildcards.variant),
    )
