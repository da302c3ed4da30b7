"""The default does not collapse where a fixed alpha does."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

from deepcac.cac import CACClassifier, CACClassifierCV, CollapseWarning, KMClassifier


def imbalanced(seed):
    X, y = make_classification(2000, 20, weights=[0.85], random_state=seed)
    return (X[:1000], y[:1000]), (X[1000:], y[1000:])


def held_out_auroc(model, seed):
    train, (X, y) = imbalanced(seed)
    return roc_auc_score(y, model.fit(*train).decision_function(X))


@pytest.mark.slow
@pytest.mark.filterwarnings("error::deepcac.cac.CollapseWarning")
@pytest.mark.parametrize("k", [2, 4])
def test_on_imbalanced_draws_the_default_keeps_up_with_k_means(k):
    gaps = []
    for seed in range(20):
        model = CACClassifier(n_clusters=k, random_state=0)
        gaps.append(held_out_auroc(model, seed))
        gaps[-1] -= held_out_auroc(KMClassifier(n_clusters=k, random_state=0), seed)
        assert not model.collapsed_
        assert 0 < model.alpha_ < 0.02
    assert np.mean(gaps) > -0.005


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("error::deepcac.cac.CollapseWarning")
def test_cross_validated_alpha_keeps_up_too():
    gaps = []
    for seed in range(20):
        model = CACClassifierCV(n_clusters=(1, 2), alphas=(0.0, 0.03, 0.3, 1.0), random_state=0)
        gaps.append(held_out_auroc(model, seed))
        gaps[-1] -= held_out_auroc(KMClassifier(random_state=0), seed)
        assert not model.collapsed_
    assert np.mean(gaps) > -0.005


def test_the_old_default_collapsed_and_says_so():
    (X, y), _ = imbalanced(0)
    with pytest.warns(CollapseWarning, match=r"\(now 1\) .*'auto'"):
        model = CACClassifier(alpha=1.0, random_state=0).fit(X, y)
    assert model.collapsed_


def test_where_any_weight_collapses_there_is_none():
    # The classes are the clusters of k-means, so no separation is asked for on top.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 3)) + 20.0 * y[:, None]
    model = CACClassifier(random_state=0).fit(X, y)
    assert model.alpha_ == 0.0
    assert model.collapsed_  # as k-means finds them: no fault of alpha, so no warning


def test_the_weight_does_not_depend_on_the_unit():
    (X, y), _ = imbalanced(3)
    plain = CACClassifier(random_state=0).fit(X, y)
    scaled = CACClassifier(random_state=0).fit(1000.0 * X, y)
    assert scaled.alpha_ == pytest.approx(plain.alpha_)
    assert np.array_equal(scaled.subtypes_, plain.subtypes_)


@pytest.mark.parametrize("separation", ["size", "cluster"])
def test_a_cluster_without_rows_has_no_part_in_the_weight(separation):
    X, y = np.random.default_rng(0).uniform(size=(400, 4)), np.arange(400) % 2
    half = (X[:, 0] > 0.5).astype(int)
    two = CACClassifier(n_clusters=2, separation=separation, random_state=0)
    three = CACClassifier(n_clusters=3, separation=separation, random_state=0)
    alpha = two.fit(X, y, labels=half).alpha_
    assert alpha > 0
    assert three.fit(X, y, labels=2 * half).alpha_ == pytest.approx(alpha)
