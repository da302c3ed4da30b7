"""Leave one clustering out, with C and the predictor chosen inside (section 6.2).

Each clustering is tested once, by a model of the others. C and the predictor are those with the
smallest mean loss when each of the others is left out in turn. Two outer folds share an inner
training set (all but the same two), so each is fitted once.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.weighted import SimilarityClusterer

PREDICTORS = ("iterative", "spectral", "discrete")

# What a fold takes over from its fit.
_SHARED = ("n_iter", "n_cuts", "n_oracle_calls", "slack", "seconds", "converged")

Build = Callable[[float], SimilarityClusterer]
Clusterings = Sequence[npt.ArrayLike]


@dataclass(frozen=True)
class Fit:
    """One trained model.

    Attributes
    ----------
    without : tuple of int
        Clusterings that were left out: one, or two in inner folds.
    C : float
    losses : dict of (int, str) to float
        Loss on each clustering left out, by each predictor.
    n_iter, n_cuts, n_oracle_calls : int
        0 where the model has none.
    slack, seconds : float
        Mean slack, and seconds of training.
    converged : bool
    """

    without: tuple[int, ...]
    C: float
    losses: dict[tuple[int, str], float]
    n_iter: int
    n_cuts: int
    n_oracle_calls: int
    slack: float
    seconds: float
    converged: bool


@dataclass(frozen=True)
class Fold:
    """One test clustering: the chosen C and predictor, their inner loss, and the test loss."""

    test: int
    C: float
    predictor: str
    inner_loss: float
    loss: float
    n_iter: int
    n_cuts: int
    n_oracle_calls: int
    slack: float
    seconds: float
    converged: bool

    def record(self) -> dict[str, object]:
        """Return the fields by name."""
        return asdict(self)


def powers_of_ten(low: int, high: int) -> tuple[float, ...]:
    """Return 10^low to 10^high."""
    return tuple(float(f"1e{power}") for power in range(low, high + 1))


def leave_one_out(
    item_sets: Sequence[ItemSet],
    clusterings: Clusterings,
    build: Build,
    grid: Sequence[float],
    predictors: Sequence[str] = PREDICTORS,
) -> tuple[list[Fold], list[Fit]]:
    """Run the experiment of section 6.2 for one method and data set.

    Parameters
    ----------
    item_sets, clusterings : sequences of length n
        At least three.
    build : callable (C) -> SimilarityClusterer
        Returns a new unfitted model; C and predictor are set here. With `warm_start` one model
        is fitted for each C in increasing order.
    grid : sequence of float
        Values of C; on ties of the inner loss the smallest C wins, then the first predictor.
    predictors : sequence of str
        Predictors to choose from.

    Returns
    -------
    folds : list of Fold, length n
    fits : list of Fit
        Every model that was trained, inner ones first.
    """
    n = len(item_sets)
    if n < 3:
        raise DataError(f"{n} clusterings are too few to leave one out twice; give at least 3")
    training = item_sets, clusterings
    inner: dict[tuple[tuple[int, ...], float], Fit] = {
        (pair, fit.C): fit
        for pair in combinations(range(n), 2)
        for fit in _path(training, pair, build, grid, predictors)
    }
    folds, outer = [], []
    for test in range(n):
        means = {
            (C, name): np.mean(list(_inner_losses(inner, test, n, C, name)))
            for C in sorted(grid)
            for name in predictors
        }
        C, name = min(means, key=lambda choice: round(float(means[choice]), 9))
        *_, fit = _path(training, (test,), build, _way(build(C), C, grid), (name,))
        outer.append(fit)
        shared = {key: value for key, value in asdict(fit).items() if key in _SHARED}
        chosen = float(means[C, name])
        folds.append(Fold(test, C, name, chosen, fit.losses[test, name], **shared))
    return folds, [*inner.values(), *outer]


def _path(
    training: tuple[Sequence[ItemSet], Clusterings],
    without: tuple[int, ...],
    build: Build,
    grid: Sequence[float],
    predictors: Sequence[str],
) -> Iterator[Fit]:
    """Yield the fits for increasing C; with `warm_start` each continues from the last one."""
    model = build(min(grid))
    for C in sorted(grid):
        model = model.set_params(C=C) if _goes_on(model) else build(C)
        yield fit_without(*training, without, model, C, predictors)


def _goes_on(model: SimilarityClusterer) -> bool:
    """Return whether the next fit starts from the last one."""
    return bool(getattr(model, "warm_start", False))


def _way(model: SimilarityClusterer, C: float, grid: Sequence[float]) -> list[float]:
    """Return the values of C to fit in order to reach C, several with `warm_start`."""
    return [c for c in grid if c <= C] if _goes_on(model) else [C]


def fit_without(
    item_sets: Sequence[ItemSet],
    clusterings: Clusterings,
    without: tuple[int, ...],
    model: SimilarityClusterer,
    C: float,
    predictors: Sequence[str],
) -> Fit:
    """Train on all clusterings but those in `without`, and test on these."""
    training = [i for i in range(len(item_sets)) if i not in without]
    begin = time.perf_counter()
    model.fit([item_sets[i] for i in training], [clusterings[i] for i in training])
    seconds = time.perf_counter() - begin
    losses = {
        (i, name): model.set_params(predictor=name).loss(item_sets[i], clusterings[i])
        for i in without
        for name in predictors
    }
    return Fit(
        without,
        C,
        losses,
        getattr(model, "n_iter_", 0),
        getattr(model, "n_cuts_", 0),
        getattr(model, "n_oracle_calls_", 0),
        float(np.mean(getattr(model, "slack_", 0.0))),
        seconds,
        getattr(model, "converged_", True),
    )


def _inner_losses(
    inner: Mapping[tuple[tuple[int, ...], float], Fit], test: int, n: int, C: float, name: str
) -> Iterator[float]:
    """Yield the loss on each training clustering by the model fitted without it and `test`."""
    for held in range(n):
        if held != test:
            pair = (min(test, held), max(test, held))
            yield inner[pair, C].losses[held, name]
