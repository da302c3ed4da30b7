"""Evaluate both sides of the papers' theorems on the first split of a data set."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.feature_matrix import read_features
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.experiments.theorems import write_theory
    from deepcac_study.splits import read_splits

    features = read_features(snakemake.input.features)
    split = read_splits(snakemake.input.splits, features.row_id)[0]
    setting = Setting(snakemake.wildcards.dataset, int(snakemake.wildcards.k), SOUND, "cac")
    task = make_task(features, split, setting)
    out = Path(snakemake.output[0])
    write_theory(out, task, setting, synthetic=snakemake.params.synthetic)
