"""Make the table, or the record, of one experiment on the splits of a data set."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.feature_matrix import read_features
    from deepcac.files.declared import resolve
    from deepcac.files.storage import write_json, write_table
    from deepcac_study.catalogue.protocol import SOUND
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.jobs.steps import call
    from deepcac_study.splits import read_splits

    dataset, k = snakemake.wildcards.dataset, int(snakemake.wildcards.get("k", 1))
    pretrained, out = str(snakemake.input.pretrained), snakemake.output[0]
    features = read_features(snakemake.input.features)
    splits = read_splits(snakemake.input.splits, features.row_id)[: snakemake.params.n_splits]
    setting = Setting(dataset, k, SOUND, "deep" if pretrained else "cac")
    offered = {
        "features": features,
        "splits": splits,
        "tasks": (make_task(features, split, setting) for split in splits),
        "setting": setting,
        "dataset": dataset,
        "k": k,
        "pretrained": Path(pretrained),
        "synthetic": dataset.startswith("demo_"),
    }
    found = call(resolve(snakemake.params.call), {}, offered)
    (write_json if out.endswith(".json") else write_table)(out, found)
