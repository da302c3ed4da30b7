"""The contenders on the patients of a place that is left out: differences and the best model."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import CAC, DISTANCES, KM, Contender
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import VALIDATION, TrialRecord
from deepcac.judging.trial_scores import advantage
from deepcac.judging.trials import run_resample
from deepcac.scoring.bootstrap import SplitScores, poisson_weights, weighted_scores
from deepcac.scoring.censored import resampled_weights
from deepcac.scoring.resampled_scores import AUROC, Estimate, estimate, score_intervals
from deepcac.table.budgeted_trials import bent_line, contenders, linear
from deepcac.table.elsewhere.folds import Fold
from deepcac.table.predictions import Predictions
from deepcac.types import Array, Ids

BOOTSTRAPS = 500
BEST = "best"
WITHOUT, WITH = "without clusters", "with clusters"  # in the predictions of a place
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
    best : str
        The model without clusters that has the best validation log loss.
    auroc : Estimate
        Of it.
    predictions : Predictions or None
        Risks by it, `WITHOUT`, and by the model with clusters of the best validation log loss,
        `WITH`; of two classes.
    cut : bool
        Whether rows that could be learnt from were left out.
    """

    name: str
    counts: tuple[int, ...]
    n_train: int
    declined: bool
    comparisons: dict[str, Compared]
    best: str
    auroc: Estimate
    predictions: Predictions | None = None
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
    best, t = chosen(finished, alone, "log_loss")
    clustered, own = chosen(finished, helping, "log_loss")
    risk = finished[best].risks[t]
    predictions = None
    if sample.n_classes == 2:
        risks = {WITHOUT: risk[:, 1], WITH: finished[clustered].risks[own][:, 1]}
        predictions = Predictions.of_part(fold.test[rows], test.unit, test.y, risks, follow)
    return JudgedFold(
        place,
        tuple(np.bincount(test.y, minlength=sample.n_classes).tolist()),
        len(sample.train),
        declined=theirs >= ours,
        comparisons={
            key: _compare(finished, test.y, once, drawn, *pair) for key, pair in pairs.items()
        },
        best=best,
        auroc=_auroc(test.y, risk, once, drawn, predictions),
        predictions=predictions,
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


def _auroc(
    y: Ids,
    risk: Array,
    once: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    predictions: Predictions | None,
) -> Estimate:
    """Return the AUROC of risks; of three classes or more the mean over them."""
    if predictions is not None:
        return score_intervals(predictions.of(WITHOUT), predictions.draws)[AUROC]
    return estimate("", float(aurocs(y, risk, once)[0]), aurocs(y, risk, weights))
