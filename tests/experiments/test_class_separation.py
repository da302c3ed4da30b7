"""Separation terms: a scale-free share by hand, and what training with each of them does."""

import numpy as np
import pytest

from deepcac.catalogue.protocol import SOUND
from deepcac.experiments.class_separation import class_share, separation_sweep
from deepcac.experiments.deep_methods import pretrain_tasks
from deepcac.experiments.prepare import Setting
from deepcac.task import Task


def test_class_share_by_hand():
    z = np.array([[0.0], [2.0], [4.0], [6.0], [50.0], [52.0]])
    cluster, y = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    # Inside clusters 9 + 1 + 1 + 9 and 1 + 1; around the means of classes 1 + 1 + 1 + 1 and 1 + 1.
    assert class_share(z, y, cluster) == pytest.approx(1 - 6 / 22)
    assert class_share(1000 * z, y, cluster) == pytest.approx(1 - 6 / 22)
    assert class_share(z * 0, y, cluster) == 0.0
    assert class_share(z, y * 0, cluster) == pytest.approx(0.0)


@pytest.mark.slow
def test_both_terms_are_trained_on_the_same_latents(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(np.int64)
    parts = (slice(0, 300), slice(300, 450), slice(450, 600))
    task = Task(*(v for p in parts for v in (X[p], y[p])), n_classes=2, k=2, seed=0)
    setting = Setting("cic", 2, SOUND, "deep")
    pretrain_tasks([task], setting, tmp_path / "ae")
    table = separation_sweep([task], setting, tmp_path / "ae", (2.0, 200.0), epochs=20).to_pandas()
    terms = ["none", *["am_softmax"] * 2, *["centroid_distance"] * 2]
    assert table["term"].tolist() == terms
    assert table["limit"].to_numpy() == pytest.approx(20 * y[:300].mean() * (1 - y[:300].mean()))
    found = table.set_index(["term", "alpha"])
    without = found.loc[("none", 0.0)]
    assert found.loc[("am_softmax", 200.0), "direction_share"] > without["direction_share"]
    assert found.loc[("centroid_distance", 2.0), "share"] > without["share"]
    # Far above the limit longer latents alone lower the loss, without end.
    assert found.loc[("centroid_distance", 200.0), "length"] > without["length"]
    assert found.loc[("centroid_distance", 200.0), "loss"] < 0 < without["loss"]
