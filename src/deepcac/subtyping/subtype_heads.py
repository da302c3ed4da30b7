"""The second stage: a logistic regression on out-of-fold answers, and what subtypes add to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from deepcac.subtyping.packed import cross_entropies

PENALTIES = (300.0, 100.0, 30.0, 10.0)
_STEPS = 60


class Blend(NamedTuple):
    """Mixes the outputs of backbones.

    Attributes
    ----------
    weight : Tensor of shape (S,)
        Not negative: answers that point the wrong way count for nothing.
    bias : Tensor of shape (n_outputs,)
    """

    weight: Tensor
    bias: Tensor

    def logits(self, outputs: Tensor) -> Tensor:
        """Mix outputs (S, n, n_outputs) to (n, n_outputs)."""
        return torch.einsum("s,snc->nc", self.weight, outputs) + self.bias


class Heads(NamedTuple):
    """What each subtype changes; all zero is no change.

    Attributes
    ----------
    weight : Tensor of shape (k, d)
        Of each variable's contribution: in subtype j variable v counts 1 + weight[j, v] times.
    bias : Tensor of shape (k, n_outputs)
    """

    weight: Tensor
    bias: Tensor

    def change(self, gates: Tensor, parts: Tensor) -> Tensor:
        """Return what is added to the logits, shape (n, n_outputs).

        Parameters
        ----------
        gates : Tensor of shape (n, k)
        parts : Tensor of shape (n, n_outputs, d)
            Contributions.
        """
        additions = parts @ self.weight.T  # what each subtype would add, shape (n, n_outputs, k)
        return gates @ self.bias + (additions * gates.unsqueeze(1)).sum(dim=2)


def fit_blend(outputs: Tensor, y: Tensor, row_weight: Tensor) -> Blend:
    """Fit the mixture of backbones (S, n, n_outputs) by the likelihood of labels (n,)."""
    n_backbones, _, n_outputs = outputs.shape
    start = outputs.new_full((n_backbones,), n_backbones**-0.5), outputs.new_zeros(n_outputs)

    def loss(root: Tensor, bias: Tensor) -> Tensor:
        weight = root.square()
        ridge = (weight - 1 / n_backbones).square().sum() + bias.square().sum()
        errors = cross_entropies(Blend(weight, bias).logits(outputs), y)
        return (errors * row_weight).sum() + 0.5 * ridge

    root, bias = _minimise(loss, start)
    return Blend(root.square(), bias)


def fit_heads(
    logits: Tensor, parts: Tensor, gates: Tensor, y: Tensor, row_weight: Tensor, penalty: float
) -> Heads:
    """Fit the heads by penalised likelihood, a convex problem that starts at no change.

    Parameters
    ----------
    logits : Tensor of shape (n, n_outputs)
        Of the backbone, which stay.
    parts, gates : Tensor
        Of `Heads.change`.
    y, row_weight : Tensor of shape (n,)
    penalty : float
        Weight of half the squared parameters.
    """

    def loss(weight: Tensor, bias: Tensor) -> Tensor:
        changed = logits + Heads(weight, bias).change(gates, parts)
        ridge = weight.square().sum() + bias.square().sum()
        return (cross_entropies(changed, y) * row_weight).sum() + 0.5 * penalty * ridge

    return Heads(*_minimise(loss, no_heads(parts, gates.shape[1])))


def no_heads(parts: Tensor, k: int) -> Heads:
    """Return heads of k subtypes that change nothing."""
    _, n_outputs, d = parts.shape
    return Heads(parts.new_zeros(k, d), parts.new_zeros(k, n_outputs))


class Gain(NamedTuple):
    """Held-out log likelihood a row that heads of one penalty add to the backbone.

    Attributes
    ----------
    penalty, mean, error : float
        `error` is the standard error of the mean over rows.
    """

    penalty: float
    mean: float
    error: float


def held_out_gains(
    logits: Tensor,
    parts: Tensor,
    gates: Tensor,
    y: Tensor,
    fold: Tensor,
    row_weight: Tensor,
    penalties: Sequence[float] = PENALTIES,
) -> list[Gain]:
    """Measure heads of each penalty on the folds (n,) that they were not fitted on."""
    before = cross_entropies(logits, y)
    gains = []
    for penalty in penalties:
        gain = torch.zeros_like(before)
        for j in fold.unique():
            held_out, rest = fold == j, fold != j
            heads = fit_heads(
                logits[rest], parts[rest], gates[rest], y[rest], row_weight[rest], penalty
            )
            changed = logits[held_out] + heads.change(gates[held_out], parts[held_out])
            gain[held_out] = (
                before[held_out] - cross_entropies(changed, y[held_out])
            ) * row_weight[held_out]
        error = float(gain.std()) / len(gain) ** 0.5
        gains.append(Gain(penalty, float(gain.mean()), error))
    return gains


def _minimise(loss: Callable[..., Tensor], start: Sequence[Tensor]) -> list[Tensor]:
    """Return the parameters that minimise a convex loss, by L-BFGS."""
    parameters = [value.clone().requires_grad_(True) for value in start]
    optimiser = torch.optim.LBFGS(parameters, max_iter=_STEPS, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimiser.zero_grad()
        value = loss(*parameters)
        value.backward()
        return float(value.detach())

    optimiser.step(closure)
    return [value.detach() for value in parameters]
