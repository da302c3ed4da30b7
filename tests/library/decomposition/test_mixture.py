import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from deepcac.decomposition.decompose import decompose
from deepcac.decomposition.mixtures.mixed import Columns, Filler, Mixed
from deepcac.decomposition.mixtures.mixture import (
    choose_clusters,
    cluster_rows,
    fit_mixture,
    iterate,
)
from deepcac.errors import ConfigError


def mixed_rows(n, seed, p=3, levels=(3, 2)):
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    numbers = rng.normal(size=(n, p)) + 4.0 * side[:, None]
    codes = np.column_stack([(rng.integers(0, size, n) + side) % size for size in levels])
    return Mixed(numbers, codes.astype(np.int64), np.array(levels)), side


def plain_em(rows, posterior, passes):
    """The same model by plain NumPy; no deviation vanishes here."""
    for _ in range(passes):
        weight = posterior.sum(axis=0)
        mean = posterior.T @ rows.numbers / weight[:, None]
        gaps = rows.numbers[:, None, :] - mean
        sd = np.sqrt((posterior[:, :, None] * gaps**2).sum(axis=0) / weight[:, None])
        logs = np.log(weight / len(rows.numbers))
        logs = logs + norm.logpdf(rows.numbers[:, None, :], mean, sd).sum(axis=2)
        for column, size in zip(rows.codes.T, rows.levels, strict=True):
            tally = 1.0 + np.array(
                [posterior[column == level].sum(axis=0) for level in range(size)]
            )
            logs = logs + np.log(tally / tally.sum(axis=0))[column]
        posterior = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return mean.T, sd.T, posterior, logsumexp(logs, axis=1).mean()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 6))
def test_passes_are_those_of_the_plain_reference(seed, k, passes):
    rows, _ = mixed_rows(50, seed)
    start = np.random.default_rng(seed).dirichlet(np.ones(k), 50)
    mean, sd, posterior, likelihood = plain_em(rows, start.copy(), passes)
    ours = iterate(rows, start.copy(), passes - 1)
    if ours.mean == pytest.approx(mean, rel=1e-9):  # else it had stopped before
        assert ours.sd == pytest.approx(sd)
        found, score = ours.posterior(rows)
        assert found == pytest.approx(posterior)
        assert score == pytest.approx(likelihood)
    else:
        assert abs(likelihood - ours.posterior(rows)[1]) < 1e-3


def test_numbers_alone_agree_with_scikit_learn():
    rows, _ = mixed_rows(300, 1)
    rows = rows._replace(codes=np.empty((300, 0), np.int64), levels=np.empty(0, np.int64))
    ours = fit_mixture(rows, 2, np.random.default_rng(0))
    theirs = GaussianMixture(2, covariance_type="diag", reg_covar=0, tol=1e-9, random_state=0)
    theirs.fit(rows.numbers)
    a, b = np.argsort(ours.mean[0]), np.argsort(theirs.means_[:, 0])
    assert ours.mean.T[a] == pytest.approx(theirs.means_[b], abs=1e-3)
    assert ours.sd.T[a] ** 2 == pytest.approx(theirs.covariances_[b], abs=1e-3)
    assert ours.posterior(rows)[1] == pytest.approx(theirs.score(rows.numbers), abs=1e-5)


def test_planted_clusters_are_found():
    rows, side = mixed_rows(200, 5)
    found = cluster_rows(rows, None, np.random.default_rng(0))
    assert found.n_components == 2
    assert (found.labels == side).mean() in (0.0, 1.0)
    assert len(found.likelihood) == 3
    assert found.likelihood[1] > max(found.likelihood[0], found.likelihood[2])


def test_a_vanished_deviation_becomes_that_of_the_column():
    numbers = np.array([[0.0], [0.0], [0.0], [5.0], [6.0], [7.0]])
    rows = Mixed(numbers, np.empty((6, 0), np.int64), np.empty(0, np.int64))
    model = iterate(rows, np.repeat(np.eye(2), 3, axis=0), passes=0)
    assert model.sd[0] == pytest.approx([numbers.std(ddof=1), np.sqrt(2 / 3)])


def test_the_number_of_clusters_is_bounded():
    rows, _ = mixed_rows(200, 5)
    assert choose_clusters(rows, 1, np.random.default_rng(0))[0] == 1
    one = rows.take(np.arange(1))
    assert cluster_rows(one, None, np.random.default_rng(0)).labels.tolist() == [0]
    equal = rows.take(np.zeros(30, dtype=np.int64))
    assert set(cluster_rows(equal, None, np.random.default_rng(0)).labels) == {0}


def test_a_category_without_a_level_changes_nothing():
    rows, _ = mixed_rows(60, 0)
    empty = Mixed(
        rows.numbers,
        np.column_stack([rows.codes, np.full(60, -1)]),
        np.append(rows.levels, 0),
    )
    plain, other = (cluster_rows(each, 3, np.random.default_rng(0)) for each in (rows, empty))
    assert np.array_equal(plain.labels, other.labels)
    assert plain.likelihood == other.likelihood
    nothing = Mixed(np.empty((9, 0)), np.full((9, 1), -1), np.array([0]))
    assert cluster_rows(nothing, 3, np.random.default_rng(0)).n_components == 1


def test_missing_values_are_filled_with_means_and_modes():
    X = pd.DataFrame(
        {"x": [1.0, np.nan, 3.0], "c": pd.Categorical(["b", "b", None], categories=["a", "b"])}
    )
    rows = Columns.of(X).encode(X)
    full = Filler.of(rows).fill(rows)
    assert full.numbers[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert full.codes[:, 0].tolist() == [1, 1, 1]


def test_kmeans_takes_as_many_clusters_as_there_are_different_rows():
    rows, _ = mixed_rows(40, 2)
    classes = np.repeat([0, 1], 20)
    rows = Mixed(np.where(classes[:, None] == 1, 0.0, rows.numbers), rows.codes * 0, rows.levels)
    found = decompose(
        rows, classes, max_clusters=3, clusterer="kmeans", rng=np.random.default_rng(0)
    )
    assert [part.n_components for part in found] == [3, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusterer": "ward", "max_clusters": 2}, "clusterer is 'ward'"),
        ({"clusterer": "kmeans", "max_clusters": None}, "needs max_clusters"),
        ({"max_clusters": 0}, "at least 1"),
    ],
)
def test_unknown_settings(options, message):
    rows, _ = mixed_rows(10, 0)
    with pytest.raises(ConfigError, match=message):
        decompose(rows, np.zeros(10, np.int64), rng=np.random.default_rng(0), **options)
