"""The compiled pass against the plain sequential reference, and cases worked by hand."""

import cac_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.cac import cluster
from deepcac.cac.cluster import lay_out_cells
from deepcac.cac.kernels.kernel import move
from deepcac.cac.kernels.rows import prepare
from deepcac.cac.kernels.scores import score
from deepcac.cac.kernels.state import EVENT, allocate, recount
from deepcac.cac.kernels.weights import renew
from deepcac.errors import ConfigError, DataError


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.one_of(st.integers(2, 40), st.integers(40, 300)))
    d, k = draw(st.integers(1, 12)), draw(st.integers(2, 6))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = X.round(draw(st.integers(0, 2)))  # exact ties
    if draw(st.booleans()):
        X = X[rng.integers(0, max(n // 3, 1), n)]  # duplicates
    if draw(st.booleans()):
        X[:, rng.integers(d)] = 3.0  # a constant column
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    labels = rng.integers(0, k, n)
    if draw(st.booleans()):
        labels[y == y[0]] = 0  # one-class clusters
        labels[y != y[0]] = rng.integers(1, k, (y != y[0]).sum())
    alpha = draw(st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0, 2.5, 5.0]))
    return X, y, labels, k, alpha, draw(st.sampled_from(["size", "cluster"]))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_labels_moves_and_cost_equal_the_reference(case):
    X, y, labels, k, alpha, separation = case
    passes = 4 if len(X) > 80 else 12
    found = cluster(X, y, labels, alpha, max_iter=passes, separation=separation, n_clusters=k)
    wanted, moves, costs = reference.cluster(X, y, labels, alpha, k, passes, separation == "size")
    assert found.moves.tolist() == moves
    assert np.array_equal(found.labels, wanted)
    scale = max(np.abs(costs).max(), 1.0)
    curves = np.column_stack([found.cost, found.within, found.separation])
    assert np.allclose(curves, costs, rtol=1e-9, atol=1e-9 * scale)


@settings(max_examples=25, deadline=None)
@given(cases(), st.sampled_from([0.0, 1e3]))
def test_rows_in_files_give_the_same_clustering(tmp_path_factory, case, offset):
    X, y, labels, k, alpha, separation = case
    folder = tmp_path_factory.mktemp("rows")
    stored = np.memmap(folder / "X", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X + offset  # far from the origin rows are centred, which needs a copy
    stored.flush()
    read = np.memmap(folder / "X", dtype=np.float64, mode="r", shape=X.shape)
    options = {"max_iter": 6, "separation": separation, "n_clusters": k}
    filed = cluster(prepare(read, folder), y, labels, alpha, **options)
    held = cluster(X + offset, y, labels, alpha, **options)
    assert np.array_equal(filed.labels, held.labels)
    assert filed.moves.tolist() == held.moves.tolist()
    assert filed.cost.tolist() == held.cost.tolist()
    assert [path.name for path in folder.iterdir()] == ["X"]


def test_what_is_laid_out_lies_in_a_file(tmp_path):
    stored = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(100, 3))
    stored[:] = np.random.default_rng(0).normal(size=(100, 3))
    rows = prepare(stored, tmp_path)
    assert isinstance(rows.blocks.base, np.memmap)
    assert np.shares_memory(rows.X, stored)  # read where it lies
    far = prepare(stored + 1e3, tmp_path)
    assert isinstance(far.X.base, np.memmap)
    with pytest.raises(FileNotFoundError):
        prepare(stored, tmp_path / "absent")


@settings(max_examples=60, deadline=None)
@given(cases())
def test_cost_never_rises_and_no_class_leaves_a_cluster(case):
    X, y, labels, k, alpha, separation = case
    found = cluster(X, y, labels, alpha, separation=separation, n_clusters=k)
    scale = np.abs(found.within).max() + alpha * np.abs(found.separation).max()
    assert (np.diff(found.cost) <= 1e-9 * scale).all()
    had = found.counts[0] > 0
    assert (found.counts[-1][had] > 0).all()
    assert np.isfinite(found.cost).all()
    assert found.counts[-1].sum() == len(X)


@settings(max_examples=30, deadline=None)
@given(cases())
def test_the_bound_only_skips_rows_that_stay(case):
    X, y, labels, k, alpha, separation = case
    whole = cluster(X, y, labels, alpha, separation=separation, n_clusters=k, max_iter=8)
    for moved in whole.moves:
        # A fresh call knows no bounds, so it scores every row.
        step = cluster(X, y, labels, alpha, separation=separation, n_clusters=k, max_iter=1)
        assert step.moves.tolist() == [moved]
        labels = step.labels
    assert np.array_equal(labels, whole.labels)


@st.composite
def crowds(draw):
    """Rows of skewed columns over several blocks, from which many move."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(100, 1200)), draw(st.integers(1, 20)), draw(st.integers(2, 10))
    centres = rng.normal(scale=draw(st.sampled_from([0.3, 1.5])), size=(2 * k, d))
    X = centres[rng.integers(0, 2 * k, n)] + rng.normal(size=(n, d))
    X[:, : d // 2] = np.exp(draw(st.sampled_from([0.5, 2.0])) * X[:, : d // 2])
    X = X * draw(st.sampled_from([1e-9, 1.0, 1e12]))
    y = rng.integers(0, draw(st.integers(2, 4)), n)
    y = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.8])), 0, y)
    labels = np.argmin(((X[:, None] - X[rng.integers(0, n, k)]) ** 2).sum(axis=2), axis=1)
    labels = np.where(rng.random(n) < 0.1, rng.integers(0, k, n), labels)
    return X, y, labels, k, draw(st.sampled_from([0.0, 0.05, 0.5, 3.0])), draw(st.booleans())


@settings(max_examples=20, deadline=None)
@given(crowds())
def test_decisions_taken_with_old_weights_are_the_exact_ones(case):
    X, y, labels, k, alpha, sized = case
    y = np.unique(y, return_inverse=True)[1]
    separation = "size" if sized else "cluster"
    found = cluster(X, y, labels, alpha, max_iter=3, separation=separation, n_clusters=k)
    centred = X - X.mean(axis=0)
    wanted, moves = reference.cluster_by_sums(centred, y, labels, alpha, k, 3, sized)
    assert found.moves.tolist() == moves
    assert np.array_equal(found.labels, wanted)


@settings(max_examples=20, deadline=None)
@given(crowds())
def test_weights_drift_by_no_more_than_the_bound(case):
    X, y, labels, k, alpha, sized = case
    y = np.unique(y, return_inverse=True)[1]
    rows = prepare(X)
    n_classes = int(y.max()) + 1
    cells, state = lay_out_cells(y, labels, k, rows), allocate(rows.blocks, k, n_classes)
    recount(rows.X, cells.ravel(), state)
    scale = (alpha, sized, rows.radius, rows.spread)
    renew(state, *scale)
    old, rng = state.forms.copy(), np.random.default_rng(0)
    unit = (np.sqrt(rows.squares) + rows.spread) * rows.radius
    augmented = np.column_stack([rows.X, rows.squares, np.ones(len(X))])
    for i in rng.permutation(len(X))[:20]:
        cell, q = int(cells.ravel()[i]), int(rng.integers(k))
        c, p = divmod(cell, k)
        if p == q or state.counts[cell] == 1:
            continue
        cells.ravel()[i] += q - p
        if move(rows.X[i], np.sqrt(rows.squares[i]), rows.spread, c, p, q, state):
            return  # the allowance is used up: all is renewed
        waits = state.waits.copy()
        fresh = allocate(rows.blocks, k, n_classes)
        recount(rows.X, cells.ravel(), fresh)
        renew(fresh, *scale)
        for cell in range(k * n_classes):
            known = np.array([True, state.counts[cell] > 1])
            change = (fresh.forms[:, cell] - old[:, cell])[known, : X.shape[1] + 2]
            bound = waits[cell // k, cell % k] * unit + 1e-9 * old[:, cell, -1].max() * unit
            assert (np.abs(change @ augmented.T) <= bound).all()


def test_prepared_rows_give_the_same_and_are_not_changed():
    rng = np.random.default_rng(3)
    X, y, labels = rng.normal(size=(300, 7)), rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    rows = prepare(X)
    before = rows.blocks.copy()
    for alpha in (0.1, 0.5):
        ready, plain = cluster(rows, y, labels, alpha), cluster(X, y, labels, alpha)
        assert np.array_equal(ready.labels, plain.labels)
        assert np.array_equal(ready.cost, plain.cost)
    assert np.array_equal(rows.blocks, before)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128])
def test_scores_of_a_block_lie_just_below_the_exact_ones(n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 5)), np.arange(n) % 2
    rows = prepare(X)
    for k in (2, 3):
        labels = rng.integers(0, k, n)
        cells, state = lay_out_cells(y, labels, k, rows), allocate(rows.blocks, k, 2)
        recount(rows.X, cells.ravel(), state)
        renew(state, 0.5, True, rows.radius, rows.spread)
        augmented = np.column_stack([rows.X, rows.squares, np.ones(n)])
        gamma = augmented @ state.forms[:, :, :7].transpose(0, 2, 1)  # way, row, cell
        for b in range(len(rows.blocks)):
            state.level[:, EVENT] = 1e9  # all are listed
            found = score(rows.blocks[b], cells[b], 0, b, state)
            assert state.events[:found].tolist() == list(range(min(64, n - 64 * b)))
            for r in range(found):
                i, c, p = 64 * b + r, y[64 * b + r], labels[64 * b + r]
                enter = [gamma[0, i, c * k + j] for j in range(k) if j != p]
                exact = gamma[1, i, c * k + p] + min(enter)
                unit = (np.sqrt(rows.squares[i]) + rows.spread) * rows.radius
                size = state.forms[:, c * k : c * k + k, -1].max(axis=1).sum()
                below = exact / unit - state.scores[-3, r]
                assert 0.0 <= below <= 1e-4 * size


def test_four_points_by_hand():
    # Start: C0 = {0+, 1-}, C1 = {10+, 2-}. D = 1/2 + 32 = 32.5; S = 2*1 + 2*64 = 130.
    # Every row is the last of its class in its cluster, so nothing moves.
    X = np.array([[0.0], [1.0], [10.0], [2.0]])
    y = np.array([1, 0, 1, 0])
    found = cluster(X, y, [0, 0, 1, 1], 0.1)
    assert found.n_iter == 1
    assert found.converged
    assert found.moves.tolist() == [0]
    assert found.within == pytest.approx([32.5, 32.5])
    assert found.separation == pytest.approx([130.0, 130.0])
    assert found.cost == pytest.approx([19.5, 19.5])


def test_one_move_by_hand():
    # alpha = 0: C0 = {0+, 1-, 10-}, C1 = {9+, 11-}. Row 10 leaves C0 (D falls from 182/3 to 1/2)
    # and joins C1 at the mean, so D = 1/2 + 2; the second pass moves nothing.
    X = np.array([[0.0], [1.0], [10.0], [9.0], [11.0]])
    y = np.array([1, 0, 0, 1, 0])
    found = cluster(X, y, [0, 0, 0, 1, 1], 0.0)
    assert found.labels.tolist() == [0, 0, 1, 1, 1]
    assert found.n_iter == 2
    assert found.moves.tolist() == [1, 0]
    assert found.within == pytest.approx([182 / 3 + 2, 2.5, 2.5])
    assert found.separation[0] == pytest.approx(3 * 5.5**2 + 2 * 2**2)
    assert found.separation[1] == pytest.approx(2 * 1 + 3 * 1.5**2)
    assert found.counts[1].tolist() == [[1, 1], [2, 1]]


def test_equal_destinations_take_the_lowest_cluster():
    # Row 0 lies in the middle of C1 and C2, which mirror each other.
    X = np.array([[0.0], [8.0], [9.0], [-1.0], [-1.5], [1.0], [1.5]])
    y = np.array([0, 0, 1, 0, 1, 0, 1])
    assert cluster(X, y, [0, 0, 0, 1, 1, 2, 2], 0.0, max_iter=1).labels[0] == 1
    assert cluster(X, y, [0, 0, 0, 2, 2, 1, 1], 0.0, max_iter=1).labels[0] == 1


def test_a_missing_class_may_enter_a_one_class_cluster():
    X = np.array([[0.0], [0.2], [5.0], [5.2], [0.1]])
    y = np.array([0, 0, 0, 1, 1])
    found = cluster(X, y, [0, 0, 1, 1, 1], 0.0)
    assert found.labels.tolist() == [0, 0, 1, 1, 0]
    assert found.separation[0] == pytest.approx(3 * (5.0 - 2.65) ** 2)


def test_an_empty_cluster_is_filled_when_that_pays():
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    y = np.array([0, 0, 1, 1])
    found = cluster(X, y, [0, 0, 0, 0], 0.0, n_clusters=3)
    assert found.counts[-1].sum(axis=1).max() < 4
    assert np.isfinite(found.cost).all()


def test_two_classes_are_the_pairwise_case():
    # Three classes in one cluster: S = n * (sum over the three pairs).
    X = np.array([[0.0], [1.0], [3.0]])
    found = cluster(X, [0, 1, 2], [0, 0, 0], 1.0)
    assert found.separation[0] == pytest.approx(3 * (1 + 9 + 4))
    assert found.cost[0] == pytest.approx(14 / 3 - 42)


def test_the_origin_and_the_order_of_memory_do_not_matter():
    rng = np.random.default_rng(0)
    X, y, labels = rng.normal(size=(200, 5)), rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    plain = cluster(X, y, labels, 0.3)
    for same in (np.asfortranarray(X), X + 1e7, X.tolist()):
        other = cluster(same, y, labels, 0.3)
        assert np.array_equal(other.labels, plain.labels)
        assert other.moves.tolist() == plain.moves.tolist()
        assert other.cost == pytest.approx(plain.cost, rel=1e-6)


def test_names_of_classes_do_not_matter_and_input_is_kept():
    rng = np.random.default_rng(1)
    X, y, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    before = labels.copy()
    named = cluster(X, np.where(y == 1, "sick", "healthy"), labels, 0.5)
    assert np.array_equal(named.labels, cluster(X, y, labels, 0.5).labels)
    assert np.array_equal(labels, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [[np.nan], [1.0]]}, "column 0"),
        ({"X": [[np.inf], [1.0]]}, "column 0"),
        ({"X": [1.0, 2.0]}, "rows by features"),
        ({"X": np.empty((0, 2)), "y": [], "labels": []}, "rows by features"),
        ({"y": [0]}, "y has shape"),
        ({"labels": [0, -1]}, "integers from 0"),
        ({"labels": [0.5, 1.0]}, "integers from 0"),
        ({"n_clusters": 1}, "n_clusters=1"),
    ],
)
def test_bad_rows_are_named(change, message):
    good = {"X": [[0.0], [1.0]], "y": [0, 1], "labels": [0, 1], "alpha": 1.0}
    with pytest.raises(DataError, match=message):
        cluster(**(good | change))


@pytest.mark.parametrize(
    "change", [{"alpha": -1.0}, {"alpha": np.nan}, {"max_iter": -1}, {"separation": "rows"}]
)
def test_bad_settings_are_named(change):
    good = {"X": [[0.0], [1.0]], "y": [0, 1], "labels": [0, 1], "alpha": 1.0}
    with pytest.raises(ConfigError, match=next(iter(change))):
        cluster(**(good | change))


def test_a_change_of_nothing_but_rounding_is_no_move():
    X = np.tile([[0.12573022, -0.13210486, 0.64042265, 0.10490012]], (3, 1))
    found = cluster(X, [0, 0, 0], [0, 0, 0], 0.0, n_clusters=2)
    assert found.moves.tolist() == [0]


def test_no_pass_and_one_cluster():
    X, y = np.array([[0.0], [2.0]]), [0, 1]
    none = cluster(X, y, [0, 1], 1.0, max_iter=0)
    assert none.n_iter == 0
    assert not none.converged
    assert none.cost.tolist() == [0.0]
    one = cluster(X, y, [0, 0], 1.0)
    assert one.cost == pytest.approx([2 - 8, 2 - 8])
