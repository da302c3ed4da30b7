"""Separation terms: a scale-free share by hand, and what training with each of them does."""

import numpy as np
import pytest
import torch

from deepcac.nn.fitting.losses import class_distances, within
from deepcac.task import Task
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.networks.class_separation import (
    class_share,
    scaling_limit,
    separation_sweep,
)
from deepcac_study.experiments.networks.deep_methods import pretrain_tasks
from deepcac_study.experiments.prepare import Setting


def test_class_share_by_hand():
    z = np.array([[0.0], [2.0], [4.0], [6.0], [50.0], [52.0]])
    cluster, y = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    # Inside clusters 9 + 1 + 1 + 9 and 1 + 1; around the means of classes 1 + 1 + 1 + 1 and 1 + 1.
    assert class_share(z, y, cluster) == pytest.approx(1 - 6 / 22)
    assert class_share(1000 * z, y, cluster) == pytest.approx(1 - 6 / 22)
    assert class_share(z * 0, y, cluster) == 0.0
    assert class_share(z, y * 0, cluster) == pytest.approx(0.0)


def test_longer_latents_lower_the_loss_above_the_limit_alone():
    # Class means 1 and 3 in cluster 0, 6 and 9 in cluster 1, around centroids 2 and 8.
    z = torch.tensor([[0.0], [2.0], [3.0], [6.0], [9.0]], dtype=torch.float64)
    y, centroids = np.array([0, 0, 1, 0, 1]), torch.tensor([[2.0], [8.0]], dtype=torch.float64)
    # Mean squared distances (4 + 0 + 1) / 3 and (4 + 1) / 2; between means 2 and 3 apart.
    expected = 20 * (5 / 3 + 5 / 2) / (4 + 9)
    assert scaling_limit(z, y, centroids, 20.0, size=5) == pytest.approx(expected)
    assert scaling_limit(7 * z, y, 7 * centroids, 20.0, size=5) == pytest.approx(expected)
    membership = torch.eye(2, dtype=torch.float64)[[0, 0, 0, 1, 1]]
    classes = torch.eye(2, dtype=torch.float64)[y]
    for alpha, gains in ((0.99 * expected, False), (1.01 * expected, True)):
        short, long = (
            20 * within(t * z, t * centroids, membership, 1.0)
            - alpha * class_distances(t * z, classes, membership)
            for t in (1.0, 2.0)
        )
        assert bool(long < short) == gains


def test_the_limit_of_one_cluster_is_beta_p_q_over_eta():
    z = torch.tensor([[0.0], [2.0], [2.0], [8.0]], dtype=torch.float64)
    y, centroid = np.array([0, 0, 0, 1]), z.mean(dim=0, keepdim=True)
    eta = class_share(z.numpy(), y, 0 * y)
    limit = scaling_limit(z, y, centroid, 20.0, size=4)
    assert limit == pytest.approx(20 * 0.25 * 0.75 / eta)
    # Batches of single rows show no class apart from another.
    assert scaling_limit(z, y, centroid, 20.0, size=1) == np.inf


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
    terms = ["none", *["am_softmax"] * 2, *["centroid_distance"] * 2, *["permuted_distance"] * 2]
    assert table["term"].tolist() == terms
    assert table["limit"].to_numpy() == pytest.approx(20 * y[:300].mean() * (1 - y[:300].mean()))
    found = table.set_index(["term", "alpha"])
    without = found.loc[("none", 0.0)]
    assert found.loc[("am_softmax", 200.0), "direction_share"] > without["direction_share"]
    assert found.loc[("centroid_distance", 2.0), "share"] > without["share"]
    # Far above the limit longer latents alone lower the loss, without end.
    assert found.loc[("centroid_distance", 200.0), "length"] > without["length"]
    assert found.loc[("centroid_distance", 200.0), "loss"] < 0 < without["loss"]
    chance = found.loc[("permuted_distance", 200.0)]
    assert chance["start_scaling"] > found.loc[("centroid_distance", 200.0), "start_scaling"]
    assert chance["start_batch_scaling"] < chance["start_scaling"]
