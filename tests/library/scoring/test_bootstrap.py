import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from deepcac.scoring.bootstrap import (
    SplitScores,
    bootstrap_scores,
    interval,
    poisson_weights,
    weighted_scores,
)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 60), levels=st.integers(1, 8))
def test_weighted_scores_equal_scikit_learn(seed, n, levels):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    label[:2] = 0, 1
    split = SplitScores(
        np.arange(n), label, rng.integers(0, 2, n), rng.integers(0, levels, n) / levels
    )
    weights = rng.integers(0, 4, (n, 3)).astype(np.uint8)
    weights[:2] = 1
    found = weighted_scores(split, weights)
    for r, w in enumerate(weights.T):
        f1 = f1_score(label, split.predicted, sample_weight=w, zero_division=0)
        assert found["f1"][r] == pytest.approx(f1)
        auroc = roc_auc_score(label, split.score, sample_weight=w)
        assert found["auroc"][r] == pytest.approx(auroc)
        auprc = average_precision_score(label, split.score, sample_weight=w)
        assert found["auprc"][r] == pytest.approx(auprc)


def test_a_class_without_weight_has_no_ranking_score():
    label = np.array([0, 1, 1])
    split = SplitScores(np.arange(3), label, label, np.array([0.1, 0.2, 0.3]))
    found = weighted_scores(split, np.array([[0, 1], [1, 0], [1, 0]], dtype=np.uint8))
    assert np.isnan(found["auroc"]).all()
    assert found["auprc"][0] == 1
    assert np.isnan(found["auprc"][1])
    assert found["f1"].tolist() == [1, 0]


def test_weights_are_a_function_of_their_size_and_seed():
    weights = poisson_weights(500, 20)
    assert (weights == poisson_weights(500, 20)).all()
    assert (weights != poisson_weights(500, 20, seed=1)).any()
    assert abs(weights.mean() - 1) < 0.05


def _scores(rng, rows, shift):
    label = (rows % 3 == 0).astype(np.int64)
    score = rng.normal(size=len(rows)) + shift * label
    return SplitScores(rows, label, (score > 0.5).astype(np.int64), score)


def test_bootstrap_is_paired_by_row():
    rng = np.random.default_rng(0)
    first = [_scores(rng, np.arange(100), 1.0), _scores(rng, np.arange(50, 150), 1.0)]
    shuffled = []
    for split in first:
        order = rng.permutation(len(split.rows))
        shuffled.append(
            SplitScores(
                *(getattr(split, f)[order] for f in ("rows", "label", "predicted", "score"))
            )
        )
    weights = poisson_weights(150, 60)
    one, other = bootstrap_scores(first, weights), bootstrap_scores(shuffled, weights)
    for metric, values in one.items():
        assert values == pytest.approx(other[metric])
        assert values.std() > 0


def test_bootstrap_interval_holds_the_score():
    rng = np.random.default_rng(1)
    split = _scores(rng, np.arange(600), 1.5)
    low, high = interval(bootstrap_scores([split], poisson_weights(600, 200))["auroc"])
    assert low < roc_auc_score(split.label, split.score) < high
    assert high - low < 0.1
