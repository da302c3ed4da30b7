"""Fit networks with and without each switch, from several starts of the autoencoder."""

from deepcac.job import job

with job(snakemake):
    from deepcac.experiments.switch_starts import start_sweep
    from deepcac.features.matrix import read_features
    from deepcac.splits import read_splits
    from deepcac.storage import write_table

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)
    asked = snakemake.wildcards
    write_table(snakemake.output[0], start_sweep(features, splits, asked.dataset, int(asked.k)))
