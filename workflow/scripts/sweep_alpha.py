"""Follow CAC pass by pass for several alphas on the first two splits of a data set."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import SOUND
    from deepcac.experiments.prepare import Setting, make_task
    from deepcac.experiments.sweeps import alpha_sweep
    from deepcac.features.matrix import read_features
    from deepcac.splits import read_splits
    from deepcac.storage import write_table

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)[:2]
    setting = Setting(snakemake.wildcards.dataset, int(snakemake.wildcards.k), SOUND, "cac")
    tasks = (make_task(features, split, setting) for split in splits)
    write_table(snakemake.output[0], alpha_sweep(tasks))
