"""Greedy blends of stored trials (Caruana et al. 2004)."""

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.judge.trial_scores import best_threshold, scores
from deepcac.storage import read_table

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

STEPS = 15
_VALIDATION = 1


class Stored(NamedTuple):
    """Answers of all trials on one part of a resample.

    Attributes
    ----------
    label : ndarray of shape (n,)
    probability : ndarray of shape (trials, n, n_classes)
    """

    label: Ids
    probability: Array


def read_answers(
    path: str | os.PathLike[str], n_trials: int
) -> Iterator[tuple[int, Stored, Stored]]:
    """Yield the seed, the validation and the test answers of each resample."""
    table = read_table(path)
    seed, part = table["seed"].to_numpy(), table["part"].to_numpy()
    label = table["label"].to_numpy().astype(np.int64)
    n_classes = sum(name.startswith("t0_") for name in table.column_names) + 1
    probability = np.empty((n_trials, len(label), n_classes))
    for t in range(n_trials):
        for c in range(1, n_classes):
            probability[t, :, c] = table[f"t{t}_{c}"].to_numpy()
    probability[:, :, 0] = 1 - probability[:, :, 1:].sum(axis=2)
    for one in np.unique(seed):
        parts = [
            Stored(label[rows], probability[:, rows])
            for wanted in (True, False)
            for rows in [np.flatnonzero((seed == one) & ((part == _VALIDATION) == wanted))]
        ]
        yield int(one), parts[0], parts[1]


def greedy(validation: Stored, metric: str) -> Ids:
    """Return how often each trial enters the blend, shape (trials,).

    In each of `STEPS` steps the trial that helps most is added, with repeats; the blend of the
    best step is kept.
    """
    n_trials = len(validation.probability)
    total = np.zeros(validation.probability.shape[1:])
    best, kept = -np.inf, np.zeros(n_trials, dtype=np.int64)
    count = kept.copy()
    for step in range(1, STEPS + 1):
        found = [
            _score(validation.label, (total + one) / step, metric) for one in validation.probability
        ]
        winner = int(np.argmax(found))
        total += validation.probability[winner]
        count[winner] += 1
        if found[winner] > best:
            best, kept = found[winner], count.copy()
    return kept


def ensemble_scores(path: str | os.PathLike[str], n_trials: int, metric: str) -> Array:
    """Return the test score of the blend of each resample."""
    found = []
    for _, validation, test in read_answers(path, n_trials):
        count = greedy(validation, metric)
        share = count / count.sum()
        blends = [np.einsum("t,tnc->nc", share, part.probability) for part in (validation, test)]
        threshold = best_threshold(validation.label, blends[0][:, 1])
        found.append(scores(test.label, blends[1], threshold)[metric])
    return np.array(found)


def _score(label: Ids, probability: Array, metric: str) -> float:
    return scores(label, probability, best_threshold(label, probability[:, 1]))[metric]
