"""Cross DeepCAC's clusters, the weight of their term and the head on the same latents."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac.files.storage import write_table
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.factorial import factorial
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)
    setting = Setting(snakemake.wildcards.dataset, 1, SOUND, "deep")
    tasks = (make_task(features, split, setting) for split in splits)
    table = factorial(tasks, setting, Path(snakemake.input.pretrained))
    write_table(snakemake.output[0], table)
