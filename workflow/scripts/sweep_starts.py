"""Fit networks with and without each switch, from several starts of the autoencoder."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac.files.storage import write_table
    from deepcac_study.experiments.switch_starts import start_sweep
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)
    asked = snakemake.wildcards
    write_table(snakemake.output[0], start_sweep(features, splits, asked.dataset, int(asked.k)))
