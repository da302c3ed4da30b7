"""Which paths are run records."""

import re

from deepcac_study.catalogue.run_paths import dataset_pattern, runs_among


def test_records_of_other_folders_are_no_data_sets():
    assert re.fullmatch(dataset_pattern(), "cic_los")
    assert re.match(f"results/{dataset_pattern()}/", "results/theory/") is None


def test_runs_are_told_from_other_targets():
    paths = ["all", "results/theory/cic_k2.json", "results/switches/A1/cic/cac_lr_k2.json"]
    assert list(runs_among(paths)) == [
        {"variant": "switches/A1/", "dataset": "cic", "method": "cac_lr", "k": "2"}
    ]
