"""Follow CAC pass by pass for several alphas on the first two splits of a data set."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac.files.storage import write_table
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.experiments.sweeps import alpha_sweep
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)[:2]
    setting = Setting(snakemake.wildcards.dataset, int(snakemake.wildcards.k), SOUND, "cac")
    tasks = (make_task(features, split, setting) for split in splits)
    write_table(snakemake.output[0], alpha_sweep(tasks))
