"""Which paths are run records, and of which data sets all are planned."""

import re

from deepcac_study.catalogue.config import Plan
from deepcac_study.catalogue.methods import classifiers
from deepcac_study.catalogue.run_paths import dataset_pattern, datasets_of_whole_arms, runs_among


def plan(datasets, methods, k):
    return Plan(part="cac", protocols=["sound"], datasets=datasets, methods=methods, k=k)


def test_whole_arms_are_recognised_by_data_set_and_k():
    every = [f"{arm}{x}" for arm in ("", "km_", "cac_") for x in classifiers()]
    whole = plan(["cic", "credit"], every, {"default": [2], "credit": [2, 3]})
    more = plan(["cic"], ["cac_lr"], [4])
    pattern = re.compile(f"results/({datasets_of_whole_arms([whole, more])})/.*")
    found = [
        f"{dataset}_k{k}"
        for dataset in ("cic", "credit", "cic_los")
        for k in (2, 3, 4, 22)
        if pattern.fullmatch(f"results/{dataset}/cac_lr_k{k}.json")
    ]
    assert found == ["cic_k2", "credit_k2", "credit_k3"]
    assert re.match(datasets_of_whole_arms([more]), "cic/cac_lr_k4.json") is None


def test_records_of_other_folders_are_no_data_sets():
    assert re.fullmatch(dataset_pattern(), "cic_los")
    assert re.match(f"results/{dataset_pattern()}/", "results/theory/") is None


def test_runs_are_told_from_other_targets():
    paths = ["all", "results/theory/cic_k2.json", "results/switches/A1/cic/cac_lr_k2.json"]
    assert list(runs_among(paths)) == [
        {"variant": "switches/A1/", "dataset": "cic", "method": "cac_lr", "k": "2"}
    ]
