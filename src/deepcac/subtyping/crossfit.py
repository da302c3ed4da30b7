"""Answers for rows that the answering model has not seen: each member leaves a fold out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from torch import Tensor

from deepcac.errors import DataError
from deepcac.nn.data import in_chunks
from deepcac.nn.training import Budget, Curve, Step, train
from deepcac.subtyping.packed import PackedNetworks, cross_entropies

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class Cases(NamedTuple):
    """What is learnt from.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        NaN is missing.
    codes, fold : ndarray of shape (n,)
        Class ids, and the fold of each row.
    weight : ndarray of shape (n,)
        How much each row counts; the mean is 1.
    """

    rows: Array
    codes: Ids
    fold: Ids
    weight: Array


def deal_cases(
    rows: Array,
    codes: Ids,
    n_folds: int,
    seed: int,
    *,
    groups: npt.NDArray[Any] | None = None,
    weights: Array | None = None,
) -> Cases:
    """Put rows (n, d) with class ids (n,) into folds; rows of a group into the same one.

    Parameters
    ----------
    rows, codes, n_folds, seed
    groups : ndarray of shape (n,), optional
        Rows of one patient, say.
    weights : ndarray of shape (n,), optional
        At least 0, not all of them 0; only their ratios count.
    """
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
    if n_folds < 2:
        raise DataError("the folds inside need two rows, or two groups, at least")
    weight = np.ones(len(codes)) if weights is None else weights / weights.mean()
    return Cases(rows, codes, deal_folds(codes, n_folds, seed, groups), weight)


def deal_folds(y: Ids, n_folds: int, seed: int, groups: npt.NDArray[Any] | None = None) -> Ids:
    """Return the fold of each row, stratified where every class has a row a fold."""
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


def left_out(fold: Tensor, members: int, n_folds: int) -> Tensor:
    """Tell which members leave which rows out, shape (M, n); member m leaves fold m % n_folds."""
    own = torch.arange(members, device=fold.device) % n_folds
    return own.unsqueeze(1) == fold


def shares(chosen: Tensor) -> Tensor:
    """Return equal weights of the chosen members (M, n) that sum to 1 a row."""
    weight = chosen.double()
    return weight / weight.sum(dim=0)


def train_crossfitted(
    networks: PackedNetworks, x: Tensor, y: Tensor, out: Tensor, weight: Tensor, budget: Budget
) -> Curve:
    """Train every member on the rows that it does not leave out; all stop together.

    What stops them is the loss of the out-of-fold answers, so no row is set apart for it.

    Parameters
    ----------
    networks : PackedNetworks
    x, y : Tensor of shapes (n, n_inputs) and (n,)
    out : Tensor of bool, shape (M, n)
        Of `left_out`.
    weight : Tensor of shape (n,)
        Of `Cases`.
    budget : Budget
    """
    outside, weight = shares(out).to(x.dtype), weight.to(x.dtype)

    def loss(rows: Tensor) -> Tensor:
        errors = cross_entropies(networks(x[rows]), y[rows]) * weight[rows]
        seen = ~out[:, rows]
        return (errors * seen).sum() / seen.sum()

    def score() -> float:
        return -float((cross_entropies(answer(networks, x, outside), y) * weight).mean())

    step = Step(loss, list(networks.parameters()))
    return train(networks, [step], len(y), score, budget)


def answer(networks: PackedNetworks, x: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return mean outputs (n, n_outputs) of the members, or by weights (M, n)."""
    outputs = in_chunks(lambda part: networks(part).transpose(0, 1), x).transpose(0, 1)
    return outputs.mean(dim=0) if weight is None else (weight.unsqueeze(2) * outputs).sum(dim=0)
