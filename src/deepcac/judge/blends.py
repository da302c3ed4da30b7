"""Greedy blends of stored trials (Caruana et al. 2004)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from deepcac.errors import DataError
from deepcac.judge.choice import TUNED, choose
from deepcac.judge.resamples import test_share
from deepcac.judge.spaces import of_kind
from deepcac.judge.trial_scores import METRICS
from deepcac.scoring.equivalence import difference
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


def aurocs(label: Ids, probability: Array) -> Array:
    """Return the AUROC of many answers (m, n, n_classes), shape (m,), over the classes of three."""
    n_classes, found = probability.shape[2], []
    for c in range(n_classes) if n_classes > 2 else [1]:
        own = label == c
        n_own = int(own.sum())
        ranks = rankdata(probability[:, :, c], axis=1)[:, own].sum(axis=1)
        found.append((ranks - n_own * (n_own + 1) / 2) / (n_own * (len(label) - n_own)))
    return np.asarray(np.mean(found, axis=0))


def greedy(validation: Stored) -> Ids:
    """Return how often each trial enters the blend, shape (trials,).

    In each of `STEPS` steps the trial that raises AUROC most is added, with repeats; the blend of
    the best step is kept.
    """
    total = np.zeros(validation.probability.shape[1:])
    best, kept = -np.inf, np.zeros(len(validation.probability), dtype=np.int64)
    count = kept.copy()
    for _ in range(STEPS):
        found = aurocs(validation.label, total + validation.probability)
        winner = int(np.argmax(found))
        total += validation.probability[winner]
        count[winner] += 1
        if found[winner] > best:
            best, kept = found[winner], count.copy()
    return kept


def blend_scores(records: Sequence[tuple[str | os.PathLike[str], int]]) -> Array:
    """Return the test AUROC of one blend of the trials of all records, for each resample.

    Parameters
    ----------
    records : sequence of (path-like, int)
        Stored answers on the same resamples, and the number of trials in each.

    Raises
    ------
    DataError
        The records are of different rows.
    """
    found = []
    for several in zip(*(read_answers(*record) for record in records), strict=True):
        _, validations, tests = zip(*several, strict=True)
        count, test = greedy(_beside(validations)), _beside(tests)
        blend = np.einsum("t,tnc->nc", count / count.sum(), test.probability)
        found.append(aurocs(test.label, blend[None])[0])
    return np.array(found)


def _beside(stored: Sequence[Stored]) -> Stored:
    """Return the trials of several records on the same rows."""
    labels = [one.label for one in stored]
    if any(not np.array_equal(labels[0], label) for label in labels):
        raise DataError("a blend needs trials on the same rows; run the judge again")
    return Stored(labels[0], np.concatenate([one.probability for one in stored]))


def blend_rows(
    records: Mapping[str, Mapping[str, dict[str, Any]]], folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield how the boosted classifier with subtypes compares with blends of rivals' trials.

    These are of boosting, and of boosting and networks.

    Parameters
    ----------
    records : mapping
        Data set to contender to record (`verdicts.read_records`).
    folder : Path
        Of the study; answers are at ``{dataset}/{contender}.parquet``.

    Yields
    ------
    dict
        ``dataset``, ``blend`` (learners, with ``+`` between), its mean test ``auroc``, and of the
        tuned classifier less it ``mean``, ``low`` and ``high``.
    """
    boosting, network, ours = (
        *(of_kind(kind)[0] for kind in ("boosting", "network")),
        of_kind("subtypes")[-1],
    )
    for dataset, found in records.items():
        for names in ((boosting,), (boosting, network)):
            if not {*names, ours} <= found.keys():
                continue
            stored = [
                (folder / dataset / f"{name}.parquet", len(found[name]["trials"])) for name in names
            ]
            scores = blend_scores(stored)
            gap = choose(found[ours], TUNED, METRICS[0]).scores - scores
            shown = difference(gap, test_share=test_share(found[ours]), margin=0.01)
            yield {
                **{"dataset": dataset, "blend": "+".join(names), "auroc": scores.mean()},
                **{"mean": shown.mean, "low": shown.low, "high": shown.high},
            }
