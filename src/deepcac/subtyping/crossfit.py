"""Answers for rows that the answering model has not seen: each member leaves a fold out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from sklearn.model_selection import KFold, StratifiedKFold
from torch import Tensor

from deepcac.nn.data import in_chunks
from deepcac.nn.training import Budget, Curve, Step, train
from deepcac.subtyping.packed import PackedNetworks, cross_entropies

Ids = npt.NDArray[np.int64]


def deal_folds(y: Ids, n_folds: int, seed: int) -> Ids:
    """Return the fold of each row, stratified where every class has a row a fold."""
    kind = StratifiedKFold if np.bincount(y).min() >= n_folds else KFold
    fold = np.empty(len(y), dtype=np.int64)
    for j, (_, out) in enumerate(kind(n_folds, shuffle=True, random_state=seed).split(y, y)):
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
    networks: PackedNetworks, x: Tensor, y: Tensor, out: Tensor, budget: Budget
) -> Curve:
    """Train every member on the rows that it does not leave out; all stop together.

    What stops them is the loss of the out-of-fold answers, so no row is set apart for it.

    Parameters
    ----------
    networks : PackedNetworks
    x, y : Tensor of shapes (n, n_inputs) and (n,)
    out : Tensor of bool, shape (M, n)
        Of `left_out`.
    budget : Budget
    """
    weight = shares(out).to(x.dtype)

    def loss(rows: Tensor) -> Tensor:
        errors = cross_entropies(networks(x[rows]), y[rows])
        seen = ~out[:, rows]
        return (errors * seen).sum() / seen.sum()

    def score() -> float:
        return -float(cross_entropies(answer(networks, x, weight), y).mean())

    step = Step(loss, list(networks.parameters()))
    return train(networks, [step], len(y), score, budget)


def answer(networks: PackedNetworks, x: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return mean outputs (n, n_outputs) of the members, or by weights (M, n)."""
    outputs = in_chunks(lambda part: networks(part).transpose(0, 1), x).transpose(0, 1)
    return outputs.mean(dim=0) if weight is None else (weight.unsqueeze(2) * outputs).sum(dim=0)
