"""Encode one flat table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.features import flat
    from deepcac.features.matrix import write_features
    from deepcac.storage import read_table

    encode = {
        "credit": flat.credit,
        "magic": flat.magic,
        "titanic": flat.titanic,
        "uci20": flat.uci20,
    }[snakemake.params.build]
    write_features(snakemake.output.features, encode(read_table(snakemake.input.tidy)))
