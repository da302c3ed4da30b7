"""Call a function on the splits of a data set, and write what it returns, if anything."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.feature_matrix import read_features
    from deepcac.files.declared import resolve
    from deepcac.files.storage import write_json, write_table
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.prepare import Setting, make_task
    from deepcac_study.jobs.steps import call
    from deepcac_study.splits import most_splits, read_splits

    inputs, asked, path = snakemake.input, snakemake.wildcards, Path(snakemake.output[0])
    features = read_features(inputs.features)
    protocol = Protocol.from_folder(asked.get("variant", ""))
    most = snakemake.params.get("n_splits") or most_splits(protocol, sequence=features.n_steps > 1)
    splits = read_splits(inputs.splits, features.row_id)[:most]
    setting = Setting(asked.dataset, int(asked.get("k", 1)), protocol, snakemake.params.family)
    offered = {
        "path": path,
        "features": features,
        "splits": splits,
        "tasks": (make_task(features, split, setting) for split in splits),
        "setting": setting,
        "dataset": setting.dataset,
        "k": setting.k,
        "pretrained": Path(str(inputs.get("pretrained", ""))),
        "run_scores": inputs.get("scores"),
        "runs": [Path(run) for run in inputs.get("runs", ())],
        "synthetic": setting.dataset.startswith("demo_"),
    }
    found = call(resolve(snakemake.params.call), {}, offered)
    if found is not None:
        (write_json if path.suffix == ".json" else write_table)(path, found)
