from itertools import combinations_with_replacement, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError
from deepcac_study.features.columns import signature as module
from deepcac_study.features.columns.signature import (
    add_time,
    lead_lag,
    log_signature,
    lyndon_words,
    signature,
    words,
)

BACKENDS = ("iisignature", "numba")


def backend_or_skip(name: str) -> str:
    if name != "numba":
        pytest.importorskip(name)
    return name


def plain_signature(path: np.ndarray, depth: int) -> np.ndarray:
    """Iterated integrals of a piecewise linear path, one word and one choice of pieces at a time.

    On the simplex of times, letters that fall on the same piece contribute one over the factorial
    of their number.
    """
    steps = np.diff(path, axis=0)
    entries = []
    for level in range(1, depth + 1):
        for word in product(range(path.shape[1]), repeat=level):
            total = 0.0
            for pieces in combinations_with_replacement(range(len(steps)), level):
                term = 1.0
                for piece, letter in zip(pieces, word, strict=True):
                    term *= steps[piece, letter]
                for piece in set(pieces):
                    term /= factorial(pieces.count(piece))
                total += term
            entries.append(total)
    return np.array(entries)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.max(np.abs(a - b) / np.maximum(1, np.abs(b)), initial=0))


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 3),
    length=st.integers(1, 7),
    d=st.integers(1, 3),
    depth=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_backend_agrees_with_the_plain_reference(backend, n, length, d, depth, seed):
    backend_or_skip(backend)
    paths = np.random.default_rng(seed).normal(size=(n, length, d)).cumsum(axis=1)
    expected = np.array([plain_signature(path, depth) for path in paths])
    found = signature(paths, depth, backend)
    assert found.shape == (n, len(words(d, depth)))
    assert relative(found, expected) < 1e-10


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_signature_of_two_unit_steps_by_hand(backend):
    backend_or_skip(backend)
    # One step right, one step up: the area under the path is 0, the area over it 1.
    path = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])
    expected = [1, 1, 0.5, 1, 0, 0.5, 1 / 6, 0.5, 0, 0.5, 0, 0, 0, 1 / 6]
    np.testing.assert_allclose(signature(path, 3, backend)[0], expected, atol=1e-12)
    # Its logarithm: increments, half the Levy area, and [x,[x,y]], [[x,y],y] of 1/12.
    np.testing.assert_allclose(
        log_signature(path, 3, backend)[0], [1, 1, 0.5, 1 / 12, 1 / 12], atol=1e-12
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_straight_line_has_no_log_signature_beyond_its_increment(backend):
    backend_or_skip(backend)
    line = np.linspace([0, 0, 0], [3.0, -2.0, 5.0], 9)[None]
    expected = np.zeros(len(lyndon_words(3, 3)))
    expected[:3] = 3, -2, 5
    np.testing.assert_allclose(log_signature(line, 3, backend)[0], expected, atol=1e-12)


def test_log_signatures_agree_with_those_of_iisignature():
    iisignature = pytest.importorskip("iisignature")
    paths = np.random.default_rng(4).normal(size=(5, 8, 3)).cumsum(axis=1)
    expanded = iisignature.logsig(paths, iisignature.prepare(3, 4, "X"), "X")
    position = [words(3, 4).index(word) for word in lyndon_words(3, 4)]
    assert relative(log_signature(paths, 4, "numba"), expanded[:, position]) < 1e-10


@given(seed=st.integers(0, 2**32 - 1), at=st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_standing_still_changes_nothing(seed, at):
    path = np.random.default_rng(seed).normal(size=(1, 6, 2))
    still = np.insert(path, at, path[:, at], axis=1)
    for augment in (lambda p: p, lead_lag):
        a = signature(augment(path), 3, "numba")
        assert relative(signature(augment(still), 3, "numba"), a) < 1e-10


def test_lyndon_words_are_as_many_as_the_free_lie_algebra_has_dimensions():
    assert [len(lyndon_words(2, depth)) for depth in (1, 2, 3, 4)] == [2, 3, 5, 8]
    assert [len(lyndon_words(3, depth)) for depth in (1, 2, 3)] == [3, 6, 14]
    assert lyndon_words(2, 3) == [(0,), (1,), (0, 1), (0, 0, 1), (0, 1, 1)]


def test_lead_lag_and_time_by_hand():
    path = np.array([[[1.0], [4.0], [2.0]]])
    assert lead_lag(path).tolist() == [[[1, 1], [4, 1], [4, 4], [2, 4], [2, 2]]]
    assert add_time(path, np.array([[0.0, 1.0, 2.0]])).tolist() == [[[0, 1], [1, 4], [2, 2]]]
    # The Levy area of the lead-lag path is half the quadratic variation, up to sign.
    area = log_signature(lead_lag(path), 2, "numba")[0, 2]
    assert area == pytest.approx((3**2 + 2**2) / 2)


def test_no_paths_and_single_points_have_empty_signatures():
    assert signature(np.zeros((0, 4, 2)), 3, "numba").shape == (0, 14)
    assert log_signature(np.zeros((0, 4, 2)), 3, "numba").shape == (0, 5)
    assert not signature(np.ones((3, 1, 2)), 2, "numba").any()


@pytest.mark.parametrize(
    ("paths", "depth", "backend", "message"),
    [
        (np.zeros((2, 3)), 2, "numba", r"\(n, length, d\)"),
        (np.zeros((2, 3, 1)), 0, "numba", "depth >= 1"),
        (np.full((1, 3, 1), np.nan), 2, "numba", "NaN"),
        (np.zeros((2, 3, 1)), 2, "esig", "known: iisignature, numba"),
    ],
)
def test_wrong_arguments_are_named(paths, depth, backend, message):
    with pytest.raises(ConfigError, match=message):
        signature(paths, depth, backend)


def test_a_missing_package_says_how_to_get_it(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module.importlib, "import_module", absent)
    with pytest.raises(ConfigError, match=r"iisignature==0\.24.*'numba'"):
        signature(np.zeros((1, 3, 2)), 2)
