"""The second stage: logistic regression on out-of-fold predictions, and changes by subtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from deepcac.subtyping.packed import cross_entropies

PENALTIES = (300.0, 100.0, 30.0, 10.0)
_STEPS = 60


class Blend(NamedTuple):
    """Stacking of the outputs of S models.

    Attributes
    ----------
    weight : Tensor of shape (S,)
        Non-negative, so that a model that predicts the wrong way gets 0.
    bias : Tensor of shape (n_outputs,)
    """

    weight: Tensor
    bias: Tensor

    def logits(self, outputs: Tensor) -> Tensor:
        """Combine outputs (S, n, n_outputs) to logits (n, n_outputs)."""
        return torch.einsum("s,snc->nc", self.weight, outputs) + self.bias


class Heads(NamedTuple):
    """Changes of the logits by subtype; all zeros change nothing.

    Attributes
    ----------
    weight : Tensor of shape (k, d)
        In subtype j the contribution of variable v counts 1 + weight[j, v] times.
    bias : Tensor of shape (k, n_outputs)
    """

    weight: Tensor
    bias: Tensor

    def change(self, gates: Tensor, parts: Tensor) -> Tensor:
        """Return the term to add to the logits, shape (n, n_outputs).

        Parameters
        ----------
        gates : Tensor of shape (n, k)
        parts : Tensor of shape (n, n_outputs, d)
            Contributions.
        """
        additions = parts @ self.weight.T  # what each subtype would add, shape (n, n_outputs, k)
        return gates @ self.bias + (additions * gates.unsqueeze(1)).sum(dim=2)


def fit_blend(outputs: Tensor, y: Tensor, row_weight: Tensor) -> Blend:
    """Fit the blend of outputs (S, n, n_outputs) by maximum likelihood of labels (n,)."""
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
        Logits of the backbone, which are fixed.
    parts, gates : Tensor
        As in `Heads.change`.
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
    """Gain in held-out log likelihood per row from heads of one penalty.

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
