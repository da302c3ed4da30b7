"""Train DeepCAC with each loss weight moved over its range, on the first two splits."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac.files.storage import write_table
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.experiments.sweeps import weight_sweep
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)[:2]
    setting = Setting(snakemake.wildcards.dataset, int(snakemake.wildcards.k), SOUND, "deep")
    tasks = (make_task(features, split, setting) for split in splits)
    table = weight_sweep(tasks, setting, Path(snakemake.input.pretrained))
    write_table(snakemake.output[0], table)
