"""The contenders on the patients of a place that is left out: differences and the best model."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import CAC, DISTANCES, KM, Contender
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import VALIDATION, TrialRecord
from deepcac.judging.trial_scores import advantage
from deepcac.judging.trials import run_resample
from deepcac.scoring.bootstrap import SplitScores, interval, poisson_weights, weighted_scores
from deepcac.scoring.censored import FollowUp, resampled_weights
from deepcac.scoring.resampled_scores import (
    AUROC,
    Estimate,
    Patients,
    score_intervals,
)
from deepcac.table.budgeted_trials import bent_line, contenders, linear
from deepcac.table.elsewhere.folds import Fold
from deepcac.types import Array, Ids

BOOTSTRAPS = 500
BEST = "best"
HELPING = (KM, CAC, DISTANCES)


class Compared(NamedTuple):
    """A model with two clusters or more, minus one without, on the same patients.

    Attributes
    ----------
    contender, reference : str
        What the validation rows chose on either side.
    score, reference_score : float
        AUROC.
    error : float
        Standard error of their difference; 0 where both sides give the same risks.
    """

    contender: str
    reference: str
    score: float
    reference_score: float
    error: float

    @property
    def mean(self) -> float:
        """The difference in AUROC."""
        return self.score - self.reference_score


class BestModel(NamedTuple):
    """The model without clusters that has the best validation log loss.

    Attributes
    ----------
    name : str
    auroc, low, high : float
        With its 95 % interval.
    scores : dict of str to Estimate
        Of two classes, by `deepcac.scoring.resampled_scores.SCORES`.
    patients : Patients or None
        Who is judged, with their risks; of two classes.
    unit : ndarray of shape (n,) or None
        Whose row each is; None where each row is a patient.
    row : ndarray of shape (n,) or None
        Their places among the rows of the fold.
    clustered : ndarray of shape (n,) or None
        Risks of the model with clusters that has the best validation log loss.
    """

    name: str
    auroc: float
    low: float
    high: float
    scores: Mapping[str, Estimate] = MappingProxyType({})
    patients: Patients | None = None
    unit: npt.NDArray[Any] | None = None
    row: npt.NDArray[np.intp] | None = None
    clustered: Array | None = None


class JudgedFold(NamedTuple):
    """One place.

    Attributes
    ----------
    counts : tuple of int
        Judged rows of each class.
    n_train : int
    declined : bool
        Whether the validation rows liked no clusters better than clusters.
    comparisons : dict
        `BEST`, or a contender with clusters, to its `Compared`.
    model : BestModel
    cut : bool
        Whether rows that could be learnt from were left out.
    """

    name: str
    counts: tuple[int, ...]
    n_train: int
    declined: bool
    comparisons: dict[str, Compared]
    model: BestModel
    cut: bool = False


class Finished(NamedTuple):
    """The trials of one contender: their record, and risks (n, n_classes) of the test."""

    record: TrialRecord
    risks: list[Array]

    def take(self, rows: npt.NDArray[np.intp]) -> "Finished":
        """Return the same for some of the test rows."""
        return Finished(self.record, [risk[rows] for risk in self.risks])


def judge_fold(fold: Fold, seed: int, trials: int, most: int) -> list[JudgedFold]:
    """Fit and tune every contender on at most `most` rows of the other places, and judge each once.

    `seed` is that of the draw of validation rows, of the models and of the bootstrap. Returned is
    an entry for each place of the fold.
    """
    sample = fold.sample(seed, most)
    with threadpool_limits(1):
        finished = {
            contender.id: run_contender(sample, contender, trials) for contender in contenders()
        }
        cut = len(sample.train) + len(sample.validation) < fold.usable
        return [
            _judge_place(fold, sample, finished, name, rows, seed)._replace(cut=cut)
            for name, rows in fold.places
        ]


def _judge_place(
    fold: Fold,
    sample: Resample,
    every: dict[str, Finished],
    place: str,
    rows: npt.NDArray[np.intp],
    seed: int,
) -> JudgedFold:
    test, follow = sample.test.take(rows), None
    if fold.follow is not None:
        follow = fold.follow.take(fold.test[rows])
    finished = {name: result.take(rows) for name, result in every.items()}
    draws = bootstrap_draws(test.unit, len(rows), seed)
    once, drawn = (
        weights if follow is None else weights * resampled_weights(follow, weights)
        for weights in (np.ones((len(rows), 1), np.uint8), draws)
    )
    alone = [contender.id for contender in contenders() if not contender.arm]
    parted = [contender for contender in contenders() if contender.arm]
    helping = [contender.id for contender in parted if contender.arm in HELPING]
    pairs = {BEST: (helping, alone)} | {
        contender.id: ([contender.id], [contender.learner]) for contender in parted
    }
    pairs |= {name: ([name], [linear()]) for name in alone if name == bent_line()}
    ours, theirs = (_validation(finished, names) for names in pairs[BEST])
    return JudgedFold(
        place,
        tuple(np.bincount(test.y, minlength=sample.n_classes).tolist()),
        len(sample.train),
        declined=theirs >= ours,
        comparisons={
            key: _compare(finished, test.y, once, drawn, *pair) for key, pair in pairs.items()
        },
        model=_best_model(finished, alone, test, follow, draws)._replace(
            row=fold.test[rows], clustered=_risks(finished, helping)[1][:, 1]
        ),
    )


def run_contender(sample: Resample, contender: Contender, trials: int) -> Finished:
    """Run the trials of a contender; keep their risks of the test rows."""
    record = run_resample(sample, contender, contender.trials(trials))
    return Finished(record, list(record.answers[0].part(TEST).probabilities()))


def bootstrap_draws(unit: npt.NDArray[Any] | None, n: int, seed: int) -> npt.NDArray[np.uint8]:
    """Return bootstrap weights (n, r); rows of one patient share theirs."""
    place = np.arange(n) if unit is None else np.unique(unit, return_inverse=True)[1]
    return poisson_weights(int(place.max()) + 1, BOOTSTRAPS, seed)[place]


def chosen(
    finished: dict[str, Finished], names: Sequence[str], metric: str = "auroc"
) -> tuple[str, int]:
    """Return the contender and the trial that the validation rows like best."""
    scores = {name: finished[name].record.score(VALIDATION, metric)[0] for name in names}
    best = max(names, key=lambda name: advantage(metric, scores[name]).max())
    return best, int(advantage(metric, scores[best]).argmax())


def _validation(finished: dict[str, Finished], names: Sequence[str]) -> float:
    return float(max(finished[name].record.score(VALIDATION, "auroc").max() for name in names))


def _compare(
    finished: dict[str, Finished],
    y: Ids,
    once: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    ours: Sequence[str],
    theirs: Sequence[str],
) -> Compared:
    names, scores, spreads = [], [], []
    for side in (ours, theirs):
        name, t = chosen(finished, side)
        risk = finished[name].risks[t]
        names.append(name)
        scores.append(float(aurocs(y, risk, once)[0]))
        spreads.append(aurocs(y, risk, weights))
    error = float(np.nanstd(spreads[0] - spreads[1], ddof=1))
    return Compared(names[0], names[1], scores[0], scores[1], error)


def aurocs(y: Ids, risk: Array, weights: npt.NDArray[Any]) -> Array:
    """Return the AUROC under several weightings of the rows, the mean over three classes or more.

    `risk` is of shape (n, n_classes), `weights` of shape (n, r); what is returned of (r,).
    """
    rows = np.arange(len(y))
    classes = [1] if risk.shape[1] == 2 else range(risk.shape[1])
    splits = [
        SplitScores(rows, (y == c).astype(np.int64), np.zeros_like(rows), risk[:, c])
        for c in classes
    ]
    return np.mean([weighted_scores(split, weights)["auroc"] for split in splits], axis=0)


def _risks(finished: dict[str, Finished], names: Sequence[str]) -> tuple[str, Array]:
    """Return the contender of the best validation log loss, and its risks."""
    name, t = chosen(finished, names, "log_loss")
    return name, finished[name].risks[t]


def _best_model(
    finished: dict[str, Finished],
    alone: list[str],
    test: Rows,
    follow: FollowUp | None,
    draws: npt.NDArray[np.uint8],
) -> BestModel:
    name, risk = _risks(finished, alone)
    if risk.shape[1] > 2:
        auroc = float(aurocs(test.y, risk, np.ones((len(test), 1), np.uint8))[0])
        spread = aurocs(test.y, risk, draws)
        low, high = interval(spread - np.nanmean(spread) + auroc)
        return BestModel(name, auroc, max(low, 0.0), min(high, 1.0))
    whom = Patients(test.y, risk[:, 1], follow)
    scores = score_intervals(whom, draws)
    return BestModel(name, *scores[AUROC][:3], scores, whom, test.unit)
