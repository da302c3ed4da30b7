"""Every way to make a risk model, on the folds of a table, so that a choice is tested nested."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import delayed
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.draws import units
from deepcac.judging.fitting import Fit, fit_in_arm
from deepcac.judging.learners import Predict, lr
from deepcac.judging.local_models import fit_boosted, fit_spline_lr
from deepcac.judging.resamples import Resample, Rows, at_most, prepared
from deepcac.judging.spaces import Values
from deepcac.scoring.censored import FollowUp
from deepcac.scoring.metrics import one_against_rest
from deepcac.table.budgeted_trials import BOOSTERS, MOST_TRAIN, bent_line, linear
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.types import Array, Ids
from deepcac.worker_processes import workers

FOLDS = 5
_CERTAIN = 1e-7
_WORTH_PROCESSES = 4.0  # seconds of work; processes need about two to start
Parts = list[npt.NDArray[np.intp]]


class Candidate(NamedTuple):
    """One way to make a model.

    Attributes
    ----------
    arm : str
        Partition, or nothing.
    values : dict
        Of a trial of the learner in it.
    learner : str
        Its id in `judging.spaces`.
    """

    arm: str
    values: Values
    learner: str = linear()

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.values.get("n_clusters", 1))

    @property
    def settings(self) -> Values:
        """Values of the learner alone."""
        return {name: v for name, v in self.values.items() if name not in ("n_clusters", "alpha")}


class Scores(NamedTuple):
    """AUROC and log likelihood per row of candidates; more is better.

    Attributes
    ----------
    auroc, log_likelihood : ndarray of shape (parts, candidates)
    """

    auroc: Array
    log_likelihood: Array


class FoldScores(NamedTuple):
    """What candidates score on folds of a table.

    Attributes
    ----------
    every : Scores
        A line per fold, of models of all other folds.
    inside : list of Scores
        Per fold, as if it was not there: a line per other fold, of models of the remaining ones.
        Empty if the choice is not tested.
    risk : ndarray of shape (candidates, n, n_classes)
        Of each row, by models of the other folds.
    fold : ndarray of shape (n,)
    """

    every: Scores
    inside: list[Scores]
    risk: Array
    fold: Ids


def score_on_folds(
    table: LabelledTable,
    candidates: Sequence[Candidate],
    seed: int,
    *,
    nested: bool = True,
    jobs: int = 1,
) -> FoldScores:
    """Score every candidate on every fold, by models of the other folds.

    To test the choice itself, no model may know the fold on which it is tested: models of all
    folds but two are scored on either, and choose for the other one.

    Parameters
    ----------
    table : LabelledTable
    candidates : sequence of Candidate
    seed : int
    nested : bool
        Whether to test the choice, too.
    jobs : int
        Folds and pairs of folds that are left out at once; it changes no number.

    Raises
    ------
    DataError
        A class has too few rows, or patients, for four folds.
    """
    parts = split(table, seed)
    n, k = len(table.features.label), len(parts)
    left_out = [(j,) for j in range(k)] + [*combinations(range(k), 2)] * nested
    answered = _held_out_results(table, parts, left_out, candidates, seed, jobs)
    risk = np.empty((len(candidates), n, table.features.n_classes))
    every = np.empty((k, len(candidates), 2))
    inside = np.full((k, k, len(candidates), 2), np.nan)
    fold = np.empty(n, dtype=np.int64)
    for folds, (risks, scores) in zip(left_out, answered, strict=True):
        if len(folds) == 1:
            (j,) = folds
            fold[parts[j]], risk[:, parts[j]], every[j] = j, risks, scores[:, 0]
        else:
            a, b = folds
            inside[a, b], inside[b, a] = scores[:, 1], scores[:, 0]
    others = [np.delete(inside[j], j, axis=0) for j in range(k)] if nested else []
    return FoldScores(_scores(every), [_scores(rest) for rest in others], risk, fold)


def _scores(values: Array) -> Scores:
    return Scores(values[..., 0], values[..., 1])


def split(table: LabelledTable, seed: int) -> Parts:
    """Return the rows of each fold; rows of one patient stay together, classes keep their share."""
    label = table.features.label
    fewest = int(np.unique(units(label, table.group)[0], return_counts=True)[1].min())
    if fewest < FOLDS - 1:
        raise DataError(f"the rarest class has {fewest} patients; a model is tested on four folds")
    parts = patient_folds(label, table.group, FOLDS, seed)
    if any(len(np.unique(label[part])) < table.features.n_classes for part in parts):
        raise DataError("the classes are on too few patients: a fold of the table lacks one")
    return parts


def patient_folds(label: Ids, group: Ids | None, most: int, seed: int) -> Parts:
    """Return the rows of `most` stratified folds; of fewer where a class has fewer patients."""
    drawn, place = units(label, group)
    n = min(most, int(np.unique(drawn, return_counts=True)[1].min()))
    folds = StratifiedKFold(n, shuffle=True, random_state=seed).split(drawn, drawn)
    patient = np.arange(len(drawn))[place]
    return [np.flatnonzero(np.isin(patient, test)) for _, test in folds]


def _held_out_results(
    table: LabelledTable,
    parts: Parts,
    left_out: Sequence[tuple[int, ...]],
    candidates: Sequence[Candidate],
    seed: int,
    jobs: int,
) -> list[tuple[list[Array], Array]]:
    """Return each candidate's held-out results per left-out fold, in parallel if worthwhile."""
    rows = (table.features, table.group, table.follow)  # the whole table is not sent about
    begin = time.monotonic()
    first = _left_out(rows, parts, left_out[0], candidates, seed)
    rest = left_out[1:]
    if (time.monotonic() - begin) * len(rest) < _WORTH_PROCESSES:
        jobs = 1
    pool = workers(min(jobs, len(rest)))
    return [
        first,
        *pool(delayed(_left_out)(rows, parts, folds, candidates, seed) for folds in rest),
    ]


def _left_out(
    rows: tuple[FeatureMatrix, Ids | None, FollowUp | None],
    parts: Parts,
    folds: tuple[int, ...],
    candidates: Sequence[Candidate],
    seed: int,
) -> tuple[list[Array], Array]:
    """Fit each candidate on all folds but one or two, and score it on those.

    Returned are its risks (n, n_classes) of the rows of the only fold, none of two, and its AUROC
    and log likelihood in each fold, shape (candidates, folds, 2).
    """
    features, group, follow = rows
    with threadpool_limits(1):
        rest = np.sort(np.concatenate([p for j, p in enumerate(parts) if j not in folds]))
        train = at_most(MOST_TRAIN, rest, features.label, seed + folds[0])
        split_rows = (train, parts[folds[-1]], parts[folds[0]])
        sample = prepared(features, split_rows, seed + folds[0], group, follow)
        sides = [sample.test, sample.validation][: len(folds)]
        risk, scores = [], []
        for candidate in candidates:
            predict = _fitted(candidate, sample)
            answers = [np.asarray(predict(side)) for side in sides]
            risk += answers[: len(folds) == 1]
            scores.append([_score(side, risks) for side, risks in zip(sides, answers, strict=True)])
    return risk, np.array(scores)


def _fitted(candidate: Candidate, sample: Resample) -> Predict:
    """Fit a candidate on the training rows, in each of its clusters."""
    fits: dict[str, Fit] = {
        linear(): lr,
        bent_line(): fit_spline_lr,
        **{library: partial(fit_boosted, library) for library in BOOSTERS},
    }
    return fit_in_arm(
        fits[candidate.learner], candidate.settings, candidate.arm, candidate.values, sample
    )


def _score(rows: Rows, risk: Array) -> tuple[float, float]:
    y, (n, n_classes) = rows.y, risk.shape
    aurocs = one_against_rest(y, risk, n_classes, "auroc", rows.weight)
    right = np.log(np.clip(risk[np.arange(n), y], _CERTAIN, 1))
    return float(aurocs.mean()), float(np.average(right, weights=rows.weight))
