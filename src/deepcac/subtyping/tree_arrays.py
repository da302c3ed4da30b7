"""Boosted trees as plain arrays: checked once, then walked by code of our own.

LightGBM's parser trusts its text, so a hostile one ends the process. No file reaches it.
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

    def check(self, n_features: int, n_outputs: int) -> TreeArrays:
        """Return these trees if they are possible: no walk leaves them or comes back."""
        reason = _fault(self, n_features, n_outputs)
        if reason:
            raise DataError(f"its trees are impossible: {reason}")
        return self


def _fault(trees: TreeArrays, n_features: int, n_outputs: int) -> str:
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
    # Every split and leaf stands once, later than where it is come from: so each walk ends.
    targets = np.sort(np.concatenate([trees.root, trees.left, trees.right]))
    if not np.array_equal(targets, np.arange(-leaves, splits)):
        return "a split or leaf is reached twice or never"
    at = np.arange(splits)
    if any(((child >= 0) & (child <= at)).any() for child in (trees.left, trees.right)):
        return "a split leads back"
    return ""


def _within(values: Ints, end: int) -> bool:
    return bool(((values >= 0) & (values < end)).all())


def read_booster(text: str) -> TreeArrays:
    """Return the trees of a LightGBM model that was trained here, given as its text."""
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


@njit()
def _walk(X: Any, trees: TreeArrays, totals: Any) -> None:
    root, feature, left, right, threshold, missing, default, leaf = trees
    n_outputs = totals.shape[1]
    for i in range(X.shape[0]):
        for t in range(len(root)):
            at = root[t]
            while at >= 0:
                value = X[i, feature[at]]
                if np.isnan(value) and missing[at] != NAN:
                    value = 0.0
                absent = missing[at] == ZERO and abs(value) <= _NO_MORE
                if absent or np.isnan(value):
                    goes_left = default[at] == 1
                else:
                    goes_left = value <= threshold[at]
                at = left[at] if goes_left else right[at]
            totals[i, t % n_outputs] += leaf[~at]
