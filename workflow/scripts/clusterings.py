"""Cluster every split, fold and alpha of one data set once, for all base classifiers."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.cac.path import GRID, alpha_path
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.clustering_files import write_clusterings
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)
    wildcards = snakemake.wildcards
    setting = Setting(wildcards.dataset, int(wildcards.k), SOUND, "cac")
    paths = {}
    for split in splits:
        task = make_task(features, split, setting)
        paths[split.seed] = alpha_path(task.X_train, task.y_train, task.k, task.seed, GRID)
    write_clusterings(snakemake.output.clusterings, paths)
