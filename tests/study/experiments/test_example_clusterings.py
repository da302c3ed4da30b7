"""The experiments of supervised k-means on small generated sets."""

import json

import numpy as np
import pytest
from scipy import sparse

from deepcac.errors import ConfigError, DataError
from deepcac.pages.figures import write
from deepcac_study.catalogue.config import LEARNERS, Budget
from deepcac_study.experiments.relatives import learning_times, oracle_checks
from deepcac_study.experiments.relatives.example_clusterings import (
    build,
    examples,
    experiment,
    write_experiment,
)
from deepcac_study.features.pairwise import PairwiseData
from deepcac_study.records.clusterings import load_clusterings
from deepcac_study.report.papers.learnt_clusterings import learning_figures, learning_tables
from deepcac_study.simulate.synth_pairs import synth_pairs

BUDGET = Budget(dataset="tiny", C=(0, 1), epsilon=1.0, max_iter=30, n_restarts=2, seeds=2)
SMALL = {"clusterings": 3, "clusters": 2, "points": 6}


def mixed():
    """Rows of two groups that lie between each other, with node and pair features."""
    rng = np.random.default_rng(0)
    group = np.array(["b", "a", "b", "a", "b"])
    nodes = sparse.csr_array(rng.random((5, 3)))
    ends = np.array([[0, 2], [0, 4], [1, 3], [2, 4]])
    marks = sparse.csr_array(np.array([[1, 0], [0, 1], [1, 1], [1, 0]], dtype=float))
    return PairwiseData(
        np.arange(5), np.array([0, 1, 1, 0, 1]), group, nodes, ("x", "y", "z"),
        ends[:, 0], ends[:, 1], marks, products=True,
    )  # fmt: skip


def test_groups_become_item_sets():
    data = mixed()
    found = examples(data)
    assert found.names == ("a", "b")
    assert [labels.tolist() for labels in found.clusterings] == [[1, 0], [0, 1, 1]]
    assert found.item_sets[1].shape == (3, 8)
    w = np.random.default_rng(1).normal(size=11)
    K = found.item_sets[1].similarity(w)
    x = data.nodes.toarray()[[0, 2, 4]]
    expected = (x * w[:3]) @ x.T
    for pair, i, j in ((0, 0, 1), (1, 0, 2), (3, 1, 2)):
        features = data.pair_features().toarray()[pair]
        expected[i, j] += features @ w[3:]
        expected[j, i] = expected[i, j]
    np.testing.assert_allclose(K, expected)


def test_no_row_and_no_such_method_are_refused():
    data = mixed()
    empty = PairwiseData(
        *(np.empty(0, dtype=np.int64) for _ in range(2)), np.empty(0, dtype=str), data.nodes[:0],
        data.names, *(np.empty(0, dtype=np.int64) for _ in range(2)), data.marks[:0],
    )  # fmt: skip
    with pytest.raises(DataError, match="no row"):
        examples(empty)
    with pytest.raises(ConfigError, match="use none, pair"):
        build("batch", 1.0, BUDGET, 0)


def test_records_are_the_same_but_for_the_machine(tmp_path):
    data = synth_pairs(**SMALL)
    for method in LEARNERS:
        for place in ("one", "two"):
            path = tmp_path / f"{place}/results/skmeans/tiny/{method}.json"
            write_experiment(path, data, "tiny", method, BUDGET)
    one, two = (
        load_clusterings((tmp_path / place).glob("results/skmeans/*/*.json"), tmp_path / place)
        for place in ("one", "two")
    )
    assert [run.method for run in one.runs] == sorted(LEARNERS)
    for first, second in zip(one.runs, two.runs, strict=True):
        machine = first.record.pop("machine")
        assert second.record.pop("machine").keys() == machine.keys()
        assert first.record == second.record
        assert "seconds" not in json.dumps(first.record)
        repeated = first.method in ("none", "iterative")
        assert first.losses.shape == (2 if repeated else 1, 3)
        assert ((first.losses > -1e-9) & (first.losses <= 100)).all()
        assert first.names == ["0", "1", "2"]
        assert first.path == f"results/skmeans/tiny/{first.method}.json"
    assert one.runs[0].record["n_pair"] == 150
    assert one.find("tiny", "pair") is not None
    assert one.find("tiny", "batch") is None


def test_learning_beats_equal_weights():
    found = examples(synth_pairs(clusterings=3, clusters=3, points=8))
    budget = Budget(dataset="tiny", C=(1, 1), epsilon=1.0, max_iter=40)
    means = {
        method: np.mean([fold.loss for fold in experiment(found, method, budget)[0][0]])
        for method in ("none", "iterative")
    }
    assert means["iterative"] < means["none"] - 10


def test_the_budget_that_stops_training_is_seen(tmp_path):
    path = tmp_path / "tiny" / "iterative.json"
    budget = Budget(dataset="tiny", C=(1, 1), epsilon=0.01, max_iter=1)
    write_experiment(path, synth_pairs(**SMALL), "tiny", "iterative", budget)
    (run,) = load_clusterings([path], tmp_path).runs
    assert run.unfinished == "6 of 6 fits stopped early"


def test_points_keep_what_their_figure_does_not_change():
    points = {(p.axis, p.value): p.arguments for p in learning_times.points()}
    base = {"clusterings": 5, "clusters": 5, "points": 20, "region": 50}
    assert points["clusterings", 2] == {**base, "clusterings": 2}
    assert points["features", 1500] == {**base, "region": 100}
    assert points["points", 40] == {**base, "points": 40}
    for (axis, value), found in points.items():
        if axis == "clusters":
            assert value * found["points"] == 100
            assert abs(value * (value + 1) / 2 * found["region"] - 750) < 30


def test_times_and_checks_make_the_section_of_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr(
        learning_times, "points",
        lambda: iter([learning_times.Point(a, v, {**SMALL, "clusterings": v})
                      for a in learning_times.RANGES for v in (2, 3)]),
    )  # fmt: skip
    monkeypatch.setattr(oracle_checks, "_SETS", 1)
    monkeypatch.setattr(oracle_checks, "_MATRICES", 4)
    learning_times.write_times(tmp_path / "times.json", 1)
    oracle_checks.write_checks(tmp_path / "checks.json")
    write_experiment(tmp_path / "tiny/pair.json", synth_pairs(**SMALL), "tiny", "pair", BUDGET)
    found = load_clusterings(tmp_path.rglob("*.json"), tmp_path)
    assert len(found.times.rows("rows", oracle="spectral")) == 8
    assert all(row["loss"] < 1e-9 for row in found.checks.rows("noise_free"))
    assert [table.id for table in learning_tables(found)] == ["skmeans_losses", "skmeans_effort"]
    assert len(learning_tables(found)[0].rows) == 3
    figures = learning_figures(found)
    assert [figure.id for figure in figures] == ["skmeans_times", "skmeans_similarity"]
    for figure in figures:
        write(figure, tmp_path)
        assert "</svg>" in (tmp_path / f"{figure.id}.svg").read_text()


def test_batch_k_means_ends_where_every_item_is_at_its_nearest_centre():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 2))
    labels = oracle_checks.batch(x @ x.T, 3, rng)
    centres = np.stack([x[labels == c].mean(axis=0) for c in range(3)])
    nearest = ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)
