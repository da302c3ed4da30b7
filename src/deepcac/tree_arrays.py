"""Boosted trees as plain arrays, which are validated once and then evaluated without LightGBM.

LightGBM's parser trusts its input, so a hostile text can crash the process; no file reaches it.
Trees of scikit-learn's histogram boosting become the same arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.compilation import njit
from deepcac.errors import DataError
from deepcac.files.saved_models import LARGEST
from deepcac.types import Array, Ints

ZERO, NAN = 1, 2  # what a split takes for missing; 0 is nothing
_NO_MORE = 1e-35  # LightGBM's zero
_DEFAULT_LEFT, _CATEGORICAL = 2, 1  # bits of LightGBM's decision type


class TreeArrays(NamedTuple):
    """The splits and leaves of all trees, one after another.

    Attributes
    ----------
    root : ndarray of shape (T,)
        First split of each tree. Here and in `left` and `right`, ~j stands for leaf j.
    feature, left, right : ndarray of shape (m,), int64
        Column of each split and where it leads; to a later split or a leaf.
    threshold : ndarray of shape (m,)
        Rows with a value up to this go left.
    missing : ndarray of shape (m,), int64
        What counts as missing: 0 nothing, `ZERO` or `NAN`.
    default : ndarray of shape (m,), int64
        1 where missing values go left.
    leaf : ndarray of shape (L,)
        What a leaf adds to the log-odds; tree t adds to output t % n_outputs.
    """

    root: Ints
    feature: Ints
    left: Ints
    right: Ints
    threshold: Array
    missing: Ints
    default: Ints
    leaf: Array

    def outputs(self, X: Array, n_outputs: int) -> Array:
        """Return the summed leaves of rows (n, d), shape (n, n_outputs)."""
        totals = np.zeros((len(X), n_outputs))
        _walk(np.ascontiguousarray(X, dtype=np.float64), self, totals)
        return totals

    def patients(self, X: Array, patient: Ints) -> Ints:
        """Return the number of distinct patients in each leaf, from rows (n, d) and ids (n,)."""
        counts = np.zeros(len(self.leaf), dtype=np.int64)
        order = np.argsort(patient, kind="stable")
        _count(np.ascontiguousarray(X[order], dtype=np.float64), self, patient[order], counts)
        return counts

    def plain(self, X: Array) -> TreeArrays:
        """Return trees that split rows (n, d) identically, with thresholds of few digits.

        A threshold lies strictly between two values of its column. One beyond all values, which
        separates rows with a value from rows without, is `LARGEST` or minus that.
        """
        threshold = self.threshold.copy()
        for j in np.unique(self.feature):
            values = np.unique(X[np.isfinite(X[:, j]), j])
            for split in np.flatnonzero(self.feature == j):
                above = int(np.searchsorted(values, threshold[split], side="right"))
                if above in (0, len(values)):
                    threshold[split] = LARGEST if above else -LARGEST
                else:
                    threshold[split] = _between(float(values[above - 1]), float(values[above]))
        return self._replace(threshold=threshold)

    def check(self, n_features: int, n_outputs: int) -> TreeArrays:
        """Return these trees if every walk ends in a leaf; else raise `DataError`."""
        reason = _fault(self, n_features, n_outputs)
        if reason:
            raise DataError(f"its trees are impossible: {reason}")
        return self


def _fault(trees: TreeArrays, n_features: int, n_outputs: int) -> str:
    """Return what is wrong with the arrays; empty if every walk from a root ends at a leaf."""
    splits, leaves = len(trees.feature), len(trees.leaf)
    lengths = {name: len(trees.root if name == "root" else trees.leaf) for name in ("root", "leaf")}
    for name, values in trees._asdict().items():
        kind = np.float64 if name in ("threshold", "leaf") else np.int64
        if values.dtype != kind or values.shape != (lengths.get(name, splits),):
            return f"{name} is {values.dtype} of shape {values.shape}"
        # A threshold of infinity parts those with a value from those without.
        if np.isnan(values).any() or (name == "leaf" and (np.abs(values) > LARGEST).any()):
            return f"{name} is not finite, or too large"
    if len(trees.root) % n_outputs or not len(trees.root):
        return f"{len(trees.root)} trees for {n_outputs} outputs"
    if not _within(trees.feature, n_features):
        return f"a split of no column, of {n_features}"
    if not (_within(trees.missing, NAN + 1) and _within(trees.default, 2)):
        return "missing values of no kind"
    # Every split and leaf has one parent, and a later index than it: so each walk ends.
    targets = np.sort(np.concatenate([trees.root, trees.left, trees.right]))
    if not np.array_equal(targets, np.arange(-leaves, splits)):
        return "a split or leaf is reached twice or never"
    at = np.arange(splits)
    if any(((child >= 0) & (child <= at)).any() for child in (trees.left, trees.right)):
        return "a split leads back"
    return ""


def _between(low: float, high: float) -> float:
    """Return the middle of two numbers, rounded to as few digits as keep it between them."""
    middle = low + (high - low) / 2
    texts = (f"{middle:.{digits}g}" for digits in range(1, 18))
    return next((value for value in map(float, texts) if low < value < high), middle)


def _within(values: Ints, end: int) -> bool:
    """Return whether all values are in 0 to end - 1."""
    return bool(((values >= 0) & (values < end)).all())


def read_booster(text: str) -> TreeArrays:
    """Parse the text of a LightGBM model that was trained in this process."""
    parts: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in TreeArrays._fields}
    splits = leaves = 0
    for block in text.split("end of trees")[0].split("\nTree=")[1:]:
        entries = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        decision = _read(entries, "decision_type", np.int64)
        if (decision & _CATEGORICAL).any() or entries.get("is_linear", "0") != "0":
            raise DataError("a tree with categories or linear leaves cannot be kept")
        children = [_read(entries, name, np.int64) for name in ("left_child", "right_child")]
        left, right = (np.where(child < 0, child - leaves, child + splits) for child in children)
        tree = TreeArrays(
            root=np.array([splits if len(left) else ~leaves]),
            feature=_read(entries, "split_feature", np.int64),
            left=left,
            right=right,
            threshold=_read(entries, "threshold", np.float64),
            missing=decision >> 2,
            default=(decision & _DEFAULT_LEFT) // _DEFAULT_LEFT,
            leaf=_read(entries, "leaf_value", np.float64),
        )
        for name, values in tree._asdict().items():
            parts[name].append(values)
        splits, leaves = splits + len(left), leaves + len(tree.leaf)
    return TreeArrays(*(np.concatenate(arrays) for arrays in parts.values()))


def _read(entries: dict[str, str], name: str, kind: type) -> npt.NDArray[Any]:
    return np.array(entries.get(name, "").split(), dtype=kind)


def read_histogram_trees(model: Any) -> TreeArrays:
    """Return the trees of a `HistGradientBoostingClassifier` fitted to numeric columns."""
    trees = [tree for trees in model._predictors for tree in trees]
    parts: dict[str, list[npt.NDArray[Any]]] = {name: [] for name in TreeArrays._fields}
    splits = leaves = 0
    for number, tree in enumerate(trees):
        nodes = tree.nodes
        is_leaf = nodes["is_leaf"].astype(bool)
        # Nodes of a tree are in the order of its growth: a child comes after its parent.
        leaf, split = (np.cumsum(kind) - 1 for kind in (is_leaf, ~is_leaf))
        place = np.where(is_leaf, ~(leaves + leaf), splits + split)
        inner, n_outputs = nodes[~is_leaf], model._baseline_prediction.size
        base = model._baseline_prediction.ravel()[number] if number < n_outputs else 0.0
        arrays = TreeArrays(
            root=place[:1],
            feature=inner["feature_idx"].astype(np.int64),
            left=place[inner["left"].astype(np.int64)],
            right=place[inner["right"].astype(np.int64)],
            threshold=inner["num_threshold"].astype(np.float64),
            missing=np.full(len(inner), NAN),
            default=inner["missing_go_to_left"].astype(np.int64),
            leaf=nodes["value"][is_leaf] + base,
        )
        for name, values in arrays._asdict().items():
            parts[name].append(values)
        splits, leaves = splits + len(inner), leaves + int(is_leaf.sum())
    return TreeArrays(*(np.concatenate(arrays) for arrays in parts.values()))


@njit()
def _leaf(X: Any, i: int, t: int, trees: TreeArrays) -> int:
    """Return the leaf of tree t that row i reaches; missing values go as in LightGBM."""
    at = trees.root[t]
    while at >= 0:
        value = X[i, trees.feature[at]]
        if np.isnan(value) and trees.missing[at] != NAN:
            value = 0.0
        absent = trees.missing[at] == ZERO and abs(value) <= _NO_MORE
        if absent or np.isnan(value):
            goes_left = trees.default[at] == 1
        else:
            goes_left = value <= trees.threshold[at]
        at = trees.left[at] if goes_left else trees.right[at]
    return ~at


@njit()
def _walk(X: Any, trees: TreeArrays, totals: Any) -> None:
    """Add each tree's leaf to `totals` (n, outputs); tree t belongs to output t modulo outputs."""
    n_outputs = totals.shape[1]
    for i in range(X.shape[0]):
        for t in range(len(trees.root)):
            totals[i, t % n_outputs] += trees.leaf[_leaf(X, i, t, trees)]


@njit()
def _count(X: Any, trees: TreeArrays, patient: Any, counts: Any) -> None:
    """Count the patients of each leaf; the rows of a patient must be adjacent."""
    last = np.full(len(counts), -1)
    for i in range(X.shape[0]):
        for t in range(len(trees.root)):
            leaf = _leaf(X, i, t, trees)
            if last[leaf] != patient[i]:
                last[leaf] = patient[i]
                counts[leaf] += 1
