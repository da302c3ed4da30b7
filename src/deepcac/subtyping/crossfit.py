"""Cross-fitting: each member of an ensemble leaves a fold out, and predicts it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from torch import Tensor

from deepcac.errors import DataError
from deepcac.nn.fitting.data import in_chunks
from deepcac.nn.fitting.training import Budget, Curve, TrainingStep, train
from deepcac.subtyping.packed import ALL, PackedNetworks, cross_entropies
from deepcac.types import Array, Ids


class Cases(NamedTuple):
    """Training data, with folds and weights.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        NaN is missing.
    codes, fold : ndarray of shape (n,)
        Class ids, and the fold of each row.
    weight : ndarray of shape (n,)
        How much each row counts; the mean is 1.
    unit : ndarray of shape (n,) or None
        Group of each row, if rows of a group stay together.
    """

    rows: Array
    codes: Ids
    fold: Ids
    weight: Array
    unit: npt.NDArray[Any] | None = None


def deal_cases(
    rows: Array,
    codes: Ids,
    n_folds: int,
    seed: int,
    *,
    groups: npt.NDArray[Any] | None = None,
    weights: Array | None = None,
) -> Cases:
    """Assign rows (n, d) with class ids (n,) to folds, whole groups to one fold.

    Parameters
    ----------
    rows, codes, n_folds, seed
    groups : ndarray of shape (n,), optional
        Group of each row, such as a patient.
    weights : ndarray of shape (n,), optional
        At least 0, not all of them 0; only their ratios count.
    """
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
    if n_folds < 2:
        raise DataError("the folds inside need two rows, or two groups, at least")
    weight = np.ones(len(codes)) if weights is None else weights / weights.mean()
    return Cases(rows, codes, deal_folds(codes, n_folds, seed, groups), weight, groups)


def deal_folds(y: Ids, n_folds: int, seed: int, groups: npt.NDArray[Any] | None = None) -> Ids:
    """Return the fold of each row, stratified if every class has at least `n_folds` rows."""
    spread = np.bincount(y).min() >= n_folds
    if groups is None:
        kind = StratifiedKFold if spread else KFold
    else:
        kind = StratifiedGroupKFold if spread else GroupKFold
    fold = np.empty(len(y), dtype=np.int64)
    folds = kind(n_folds, shuffle=True, random_state=seed).split(y, y, groups)
    for j, (_, out) in enumerate(folds):
        fold[out] = j
    return fold


class LeftOut(NamedTuple):
    """A fold and the networks that leave it out.

    Attributes
    ----------
    members : slice
        Networks that do not see the fold.
    rows : Tensor of int
        Positions of its rows.
    """

    members: slice
    rows: Tensor


def left_out(fold: Tensor, members: int) -> list[LeftOut]:
    """Return the members that leave each of F folds out: member m leaves fold m % F."""
    n_folds = int(fold.max()) + 1
    return [
        LeftOut(slice(j, members, n_folds), torch.nonzero(fold == j).squeeze(1))
        for j in range(n_folds)
    ]


def unseen(function: Callable[[Tensor, slice], Tensor], x: Tensor, folds: list[LeftOut]) -> Tensor:
    """Apply a function of (rows, members) to each fold with the members that leave it out."""
    parts = [function(x[fold.rows], fold.members) for fold in folds]
    values = parts[0].new_empty(len(x), *parts[0].shape[1:])
    for fold, part in zip(folds, parts, strict=True):
        values[fold.rows] = part
    return values


def train_crossfitted(
    networks: PackedNetworks,
    x: Tensor,
    y: Tensor,
    folds: list[LeftOut],
    weight: Tensor,
    budget: Budget,
) -> Curve:
    """Train every member on the rows that it does not leave out; all stop together.

    Early stopping uses the loss of the out-of-fold predictions, so no validation rows are needed.

    Parameters
    ----------
    networks : PackedNetworks
    x, y : Tensor of shapes (n, n_inputs) and (n,)
    folds : list of LeftOut
    weight : Tensor of shape (n,)
        As in `Cases`.
    budget : Budget
    """
    seen = torch.ones(networks.members, len(x), dtype=torch.bool, device=x.device)
    for fold in folds:
        seen[fold.members, fold.rows] = False
    weight, say = weight.to(x.dtype), partial(mean_outputs, networks)

    def loss(rows: Tensor) -> Tensor:
        errors = cross_entropies(networks(x[rows]), y[rows]) * weight[rows]
        batch_seen = seen[:, rows]
        return (errors * batch_seen).sum() / batch_seen.sum()

    def score() -> float:
        return -float((cross_entropies(unseen(say, x, folds), y) * weight).mean())

    step = TrainingStep(loss, list(networks.parameters()))
    return train(networks, [step], len(y), score, budget)


def mean_outputs(networks: PackedNetworks, x: Tensor, members: slice = ALL) -> Tensor:
    """Return the mean outputs (n, n_outputs) of members."""
    return in_chunks(lambda part: networks(part, members).mean(dim=0), x)
