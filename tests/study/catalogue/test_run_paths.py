"""Which paths are run records, and which of them one job makes."""

import re
from pathlib import Path

from deepcac_study.catalogue.run_paths import (
    dataset_pattern,
    joined,
    networks_together,
    nowhere_in,
    runs_among,
    tables_together,
    with_those_beside,
)


def places(together, path):
    """Tell whether the runs of a job are those of a place."""
    return re.match(together.only_here + ".*", path) is not None


def test_the_classical_runs_of_a_table_come_together():
    folders = ["", "as_published/", "switches/A1/"]
    stems = ["lr_k1", "km_lr_k2", "cac_lr_k2"]
    paths = [f"results/{folder}cic/{stem}.json" for folder in folders for stem in stems]
    more = [f"results/credit/{stem}.json" for stem in ("lr_k1", "cac_lr_k4")]
    one, other = tables_together([*paths, *more, "results/titanic/lr_k1.json"])
    assert one.ends == tuple(sorted(stems))
    found = [folder for folder in folders if places(one, f"{folder}cic/lr_k1.json")]
    assert found == folders
    assert not places(one, "credit/lr_k1.json")
    assert not places(one, "cic_los/lr_k1.json")
    assert other.ends == ("cac_lr_k4", "lr_k1")
    assert not places(other, "titanic/lr_k1.json")  # alone


def test_a_run_by_its_name_has_the_same_beside_it_as_in_its_table():
    paths = [f"results/cic/{stem}.json" for stem in ("lr_k1", "km_lr_k2", "cac_lr_k2")]
    groups = tables_together(paths)
    whole = ("cac_lr_k2", "km_lr_k2", "lr_k1")
    assert with_those_beside(groups, "cic/", ["cac_lr_k2"]) == whole
    assert with_those_beside(groups, "cic/", whole) == whole
    assert with_those_beside(groups, "cic/", ["cac_lr_k3"]) == ("cac_lr_k3",)
    assert with_those_beside(groups, "cic_los/", ["cac_lr_k2"]) == ("cac_lr_k2",)


def test_the_rules_of_runs_record_the_same_of_a_run_alone_and_in_its_table():
    rules = Path(__file__).parents[3] / "workflow" / "rules"
    common, runs = ((rules / f"{name}.smk").read_text() for name in ("common", "runs"))
    assert "with_those_beside(planned_tables(), place, asked)" in common
    assert "return tables_together(layout.all_runs())" in common
    assert "learners_of(\n                wildcards, folder, stems\n            )" in runs


def test_every_k_of_a_network_comes_together_but_on_sequences():
    paths = [f"results/cic/km_z_k{k}.json" for k in (2, 3, 1)]
    paths += [f"results/as_published/cic/grasp_k{k}.json" for k in (2, 3)]
    paths += [f"results/sepsis_ts/grasp_ts_k{k}.json" for k in (2, 3)]
    one, other = networks_together([*paths, "results/cic/lr_k1.json"])
    assert one.ends == ("1", "2", "3")
    assert places(one, "cic/km_z_k2.json")
    assert not places(one, "cic/grasp_k2.json")
    assert places(other, "as_published/cic/grasp_k3.json")
    assert not places(other, "cic/grasp_k3.json")


def test_two_lists_of_clusters_never_have_one_name():
    assert joined(["2", "3", "4"]) == "234"  # as in the measured run of the papers
    lists = [("1", "2", "3"), ("12", "3"), ("123",), ("1", "23"), ("12",), ("1", "2"), ("2", "10")]
    assert len({joined(ends) for ends in lists}) == len(lists)
    assert all(re.fullmatch(r"\w+", joined(ends)) for ends in lists)


def test_a_run_of_its_own_is_in_none_of_the_groups():
    files = ["cic/lr_k1", "cic/cac_lr_k2", "as_published/cic/km_z_k1", "as_published/cic/km_z_k2"]
    paths = [f"results/{file}.json" for file in files]
    single = nowhere_in([*tables_together(paths), *networks_together(paths)])
    ends = (".json", ".scores.parquet", ".log")
    assert not any(re.match(single, file + end) for file in files for end in ends)
    others = ["cic/lr_k2", "cic/cac_lr_k21", "cic/km_z_k1", "as_published/cic/km_z_k3"]
    assert all(re.match(single, f"{file}.json") for file in others)


def test_records_of_other_folders_are_no_data_sets():
    assert re.fullmatch(dataset_pattern(), "cic_los")
    assert re.match(f"results/{dataset_pattern()}/", "results/theory/") is None


def test_runs_are_told_from_other_targets():
    paths = ["all", "results/theory/cic_k2.json", "results/switches/A1/cic/cac_lr_k2.json"]
    assert list(runs_among(paths)) == [
        {"variant": "switches/A1/", "dataset": "cic", "method": "cac_lr", "k": "2"}
    ]
