"""Cross DeepCAC's clusters, the weight of their term and the head on the same latents."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.protocol import SOUND
    from deepcac.experiments.factorial import factorial
    from deepcac.experiments.prepare import Setting, make_task
    from deepcac.features.matrix import read_features
    from deepcac.splits import read_splits
    from deepcac.storage import write_table

    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)
    setting = Setting(snakemake.wildcards.dataset, 1, SOUND, "deep")
    tasks = (make_task(features, split, setting) for split in splits)
    table = factorial(tasks, setting, Path(snakemake.input.pretrained))
    write_table(snakemake.output[0], table)
