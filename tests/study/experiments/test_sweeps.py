from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.task import Task
from deepcac_study.experiments.sweeps import alpha_sweep, grid_point
from deepcac_study.records.sweep_tables import by_split, final_pass
from deepcac_study.simulate.synthetic_cac import Cell, synthetic_cac


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0])
    X[:, 3] += 3 * rng.integers(0, 2, 240)
    return Task(
        X_train=X[:180],
        y_train=y[:180],
        X_validation=X[:0],
        y_validation=y[:0],
        X_test=X[180:],
        y_test=y[180:],
        n_classes=2,
        k=2,
        seed=0,
    )


def test_alpha_sweep_follows_the_whole_clustering(task):
    table = alpha_sweep([task], (0.0, 0.2)).to_pandas()
    start = kmeans_labels(task.X_train, 2, 0)
    for alpha, own in table.groupby("alpha"):
        whole = cluster(task.X_train, task.y_train, start, float(alpha))
        assert own["cost"].to_numpy() == pytest.approx(whole.cost[: len(own)])
        assert own["moves"].tolist() == whole.moves.tolist()
        assert own["cost"].to_numpy() == pytest.approx(
            own["within"].to_numpy() - float(alpha) * own["separation"].to_numpy()
        )
    assert table["moves"].groupby(table["alpha"]).last().eq(0).all()
    assert table[["train_log_loss", "test_log_loss", "f1"]].notna().all(axis=None)


def test_every_split_of_a_sweep_is_as_if_alone(task):
    other = replace(task, seed=1)
    both = alpha_sweep([task, other], (0.2,)).to_pandas()
    parts = by_split(both)
    assert [set(part["seed"]) for part in parts] == [{0}, {1}]
    alone = alpha_sweep([other], (0.2,)).to_pandas()
    assert parts[1].reset_index(drop=True).equals(alone)


def test_alpha_sweep_of_three_classes_takes_the_mean_f1(task):
    third = np.arange(len(task.X_train)) % 3, np.arange(len(task.X_test)) % 3
    three = replace(task, y_train=third[0], y_test=third[1], n_classes=3)
    table = alpha_sweep([three], (0.1,)).to_pandas()
    assert table["f1"].between(0, 1).all()


def test_a_huge_alpha_separates_the_classes(task):
    last = final_pass(alpha_sweep([task], (0.0, 100.0)).to_pandas()).set_index("alpha")
    assert last["separation"][100.0] > last["separation"][0.0]
    assert last["train_log_loss"][100.0] < 0.2 * last["train_log_loss"][0.0]


def test_grid_point_scores_every_arm():
    features = synthetic_cac(Cell(ics=2.0, ocs=2.0, clusters=2), rows=120)
    points = pd.DataFrame(grid_point(features))
    assert points.groupby("method").size().to_dict() == {"cac_lr": 4, "km_lr": 4, "lr": 1}
    assert points["f1"].between(0.5, 1).all()
    best = points[points["k"] == 2].set_index("method")["f1"]
    assert best["km_lr"] > points.set_index("method")["f1"]["lr"]
    assert points["alpha"].notna().tolist() == (points["method"] == "cac_lr").tolist()
    pd.testing.assert_frame_equal(points, pd.DataFrame(grid_point(features)))
