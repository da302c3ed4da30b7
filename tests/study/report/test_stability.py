"""Agreement of a run's clusters between its splits, by hand."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from deepcac_study.records.runs import Run
from deepcac_study.report.runs.runtables import clusters_table, stability


def run(*splits):
    """Return what `stability` reads of a run: for each split, its rows with their clusters."""
    lines = [
        {"row_id": row, "seed": seed, "cluster": cluster}
        for seed, split in enumerate(splits)
        for row, cluster in split.items()
    ]
    table = pa.Table.from_pylist(lines) if lines else None
    return SimpleNamespace(scores=lambda columns: table.select(columns) if table else None)


def test_names_of_clusters_do_not_count():
    assert stability(run({7: 0, 3: 0, 5: 1, 9: 1}, {9: 0, 5: 0, 3: 1, 7: 1})) == 1


def test_rows_of_one_split_alone_do_not_count():
    # Shared are 1 to 4, in the same two pairs; 5 and 6 would break them.
    assert stability(run({1: 0, 2: 0, 3: 1, 4: 1, 5: 0}, {6: 0, 1: 1, 2: 1, 3: 0, 4: 0})) == 1


def test_pairs_of_splits_are_averaged():
    # First and second agree: 1. Each with the third, of six pairs of rows two are together in one
    # and two in the other, none in both: (0 - 2/3) / (2 - 2/3) = -1/2.
    same = {1: 0, 2: 0, 3: 1, 4: 1}
    assert stability(run(same, same, {1: 0, 2: 1, 3: 0, 4: 1})) == pytest.approx(0)


def test_without_shared_rows_or_scores_there_is_none():
    assert stability(run({1: 0, 2: 1}, {3: 0, 4: 1})) is None
    assert stability(run()) is None


@pytest.mark.parametrize(("dataset", "shown"), [("cic", ["100", "13", "40"]), ("ards", ["100"])])
def test_a_cluster_with_few_patients_of_a_class_is_withheld_where_data_are_restricted(
    tmp_path, dataset, shown
):
    sizes = {
        "sizes_train": [[80, 20], [11, 2], [30, 10]],
        "sizes_test": [[20, 11], [4, 0], [9, 13]],
    }
    record = {
        "dataset": dataset,
        "method": "cac_lr",
        "k": 3,
        "protocol": "sound",
        "splits": [{"clusters": sizes}],
    }
    table = clusters_table(
        [Run("results/cic/cac_lr_k3.json", record, tmp_path / "none.json")], hidden={"ards"}
    )
    trained = [row[5].text for row in table.rows]
    assert [text for text in trained if text != "withheld"] == shown
