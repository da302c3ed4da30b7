"""Cluster every split, fold and alpha of one data set once, for all base classifiers."""

from deepcac.job import job

with job(snakemake):
    from deepcac.cac.path import alpha_path, write_clusterings
    from deepcac.catalogue.protocol import Protocol
    from deepcac.experiments.cac_arms import alphas_needed
    from deepcac.experiments.prepare import Setting, make_task
    from deepcac.features.matrix import read_features
    from deepcac.splits import read_splits, scheme

    wildcards = snakemake.wildcards
    protocol = Protocol.from_folder(wildcards.variant)
    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id, scheme(protocol, "cac"))
    setting = Setting(wildcards.dataset, int(wildcards.k), protocol, "cac")
    alphas, tuned = alphas_needed(wildcards.dataset, protocol)
    paths = {}
    for split in splits:
        task = make_task(features, split, setting)
        paths[split.seed] = alpha_path(
            task.X_train,
            task.y_train,
            task.k,
            task.seed,
            alphas,
            full_only=not tuned,
        )
    write_clusterings(snakemake.output.clusterings, paths)
