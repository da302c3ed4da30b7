import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from deepcac.decomposition.smo import UnitPoints
from deepcac.errors import ConfigError, DataError
from deepcac_study.experiments.relatives.repeated_runs import draw_parts, run_experiment


def table(n=200):
    """Class a lies at both ends of x, class b in the middle; c is noise."""
    rng = np.random.default_rng(0)
    end = rng.integers(0, 2, n)
    y = np.where(rng.integers(0, 2, n) == 1, "a", "b")
    x = np.where(y == "a", 8.0 * end, 4.0) + rng.normal(scale=0.5, size=n)
    return pd.DataFrame({"x": x, "c": pd.Categorical(rng.choice(["u", "v"], n))}), y


@pytest.mark.parametrize("stratified", [True, False])
def test_parts(stratified):
    y = np.repeat([0, 1, 2], [100, 41, 4])
    shares = []
    for seed in range(40):
        parts = draw_parts(y, np.random.default_rng(seed), stratified=stratified)
        assert sorted(np.concatenate(parts).tolist()) == list(range(145))
        shares.append([len(part) for part in parts])
        if stratified:
            assert [np.sum(y[part] == 0) for part in parts] == [50, 25, 25]
            assert [np.sum(y[part] == 2) for part in parts] == [2, 1, 1]
    assert np.mean(shares, axis=0) == pytest.approx([72.5, 36.25, 36.25], abs=0.6)


def test_a_class_of_one_row_is_trained_on():
    for seed in range(20):
        parts = draw_parts(np.repeat([0, 1], [20, 1]), np.random.default_rng(seed))
        assert 20 in parts.train


def test_too_few_rows():
    with pytest.raises(DataError, match="too few"):
        draw_parts(np.array([0, 1]), np.random.default_rng(0))


def test_records_of_a_small_experiment():
    X, y = table()
    records = list(run_experiment(X, y, runs=2))
    assert [(r.run, r.base, r.arm) for r in records[:4]] == [
        (0, "nb", "alone"),
        (0, "nb", "separate"),
        (0, "nb", "greedy"),
        (0, "svm", "alone"),
    ]
    assert len(records) == 12
    for r in records:
        assert r.n_clusters == (2, 1)
        if r.arm == "alone":
            assert r.configuration == (((0,),), ((0,),))
            assert r.fits == 0
        elif r.base == "svm" or r.arm == "separate":
            assert r.configuration == (((0,), (1,)), ((0,),))
            assert r.accuracy > 0.9
    svm = {r.arm: r for r in records if r.base == "svm" and r.run == 1}
    assert svm["alone"].accuracy < 0.8
    assert (svm["greedy"].merges_tried, svm["greedy"].merges_taken) == (1, 0)
    separate, merged, result = svm["greedy"].validation_steps
    assert separate == result == svm["greedy"].validation_accuracy > merged
    assert svm["alone"].validation_steps == ()
    # Three pairs of three groups, then the one pair of a and b.
    assert (svm["greedy"].fits, svm["greedy"].fits_if_all) == (4, 4)


def test_runs_differ_and_can_be_repeated():
    X, y = table(60)
    first, again = ([r.accuracy for r in run_experiment(X, y, runs=3, seed=1)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 1


def test_machines_against_rest():
    X, y = table()
    X.loc[::11, "x"] = np.nan
    alone, _, greedy = run_experiment(X, y, runs=1, bases=["svm_rest"])
    parts = draw_parts(y, np.random.default_rng([0, 0]))
    points = UnitPoints().fit(X.iloc[parts.train])
    model = SVC(kernel="linear").fit(points.transform(X.iloc[parts.train]), y[parts.train])
    assert alone.accuracy == model.score(points.transform(X.iloc[parts.test]), y[parts.test])
    assert greedy.validation_accuracy >= alone.validation_accuracy
    with pytest.raises(ConfigError, match="'tree'"):
        next(run_experiment(X, y, bases=["tree"]))
