"""The contenders on the patients of a place that is left out: differences and the best model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import CAC, DISTANCES, KM, Contender
from deepcac.judging.predictions import Predictions
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import VALIDATION
from deepcac.judging.trial_scores import advantage
from deepcac.judging.trials import run_resample
from deepcac.scoring.censored import FollowUp
from deepcac.scoring.resampled_scores import (
    AUROC,
    LOSS,
    Estimate,
    Patients,
    drawn_aurocs,
    estimate,
    patient_draws,
    score_intervals,
)
from deepcac.table.budgeted_trials import TableRun, bent_line, contenders, in_time, linear
from deepcac.table.elsewhere.folds import Fold
from deepcac.types import Array, Ids

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


class FoldResult(NamedTuple):
    """The results of one place.

    Attributes
    ----------
    counts : tuple of int
        Test rows of each class.
    n_train : int
        Training rows.
    declined : bool
        Whether the best model on the validation rows has no clusters.
    comparisons : dict
        From `BEST`, or a contender with clusters, to its `Compared`.
    best : str
        The model without clusters that has the best validation log loss.
    auroc : Estimate
        AUROC of `best`.
    predictions : Predictions or None
        For two classes: the risks by `best` (`WITHOUT`), and by the model with clusters that
        has the best validation log loss (`WITH`).
    cut : bool
        Whether some rows of other places were left out of training.
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


class Tuned(NamedTuple):
    """Best trial of a contender by validation score.

    Attributes
    ----------
    contender : str
    validation : float
        Its validation score; higher is better.
    risk : ndarray of shape (n, n_classes)
        Risks of the test rows.
    """

    contender: str
    validation: float
    risk: Array


def tuned(sample: Resample, contender: Contender, trials: int) -> dict[str, Tuned]:
    """Run the trials of a contender; return the best one by AUROC and by log loss."""
    record = run_resample(sample, contender, contender.trials(trials))
    answers, best = record.answers[0].part(TEST), {}
    for metric in (AUROC, LOSS):
        scores = advantage(metric, record.score(VALIDATION, metric)[0])
        t = int(scores.argmax())
        best[metric] = Tuned(contender.id, float(scores[t]), answers.probability(t))
    return best


def best_of(finished: Mapping[str, dict[str, Tuned]], names: Sequence[str], metric: str) -> Tuned:
    """Return the contender among `names` with the best validation score."""
    return max((finished[name][metric] for name in names), key=lambda model: model.validation)


def evaluate_folds(folds: Sequence[Fold], run: TableRun) -> list[FoldResult]:
    """Evaluate every fold, some at once; its results do not depend on the other folds."""
    evaluate = partial(_evaluate_numbered, folds, run.seed, run.trials, run.train_rows)
    n = len(folds)
    return [place for places in in_time(run, evaluate, n, n, "fold") for place in places]


def _evaluate_numbered(
    folds: Sequence[Fold], seed: int, trials: int, most: int, j: int
) -> list[FoldResult]:
    return evaluate_fold(folds[j], seed + j, trials, most)


def evaluate_fold(fold: Fold, seed: int, trials: int, most: int) -> list[FoldResult]:
    """Fit and tune every contender on at most `most` rows of the other places; test each once.

    `seed` draws the validation rows, the models and the bootstrap samples. The list has an entry
    for each place of the fold.
    """
    sample = fold.sample(seed, most)
    with threadpool_limits(1):
        finished = {model.id: tuned(sample, model, trials) for model in contenders()}
        known = fold.fit if fold.follow is None else fold.fit[fold.follow.outcome_known[fold.fit]]
        cut = len(sample.train) + len(sample.validation) < len(known)
        return [
            _evaluate_place(fold, sample, finished, name, rows, seed)._replace(cut=cut)
            for name, rows in fold.places
        ]


def _evaluate_place(
    fold: Fold,
    sample: Resample,
    finished: Mapping[str, dict[str, Tuned]],
    place: str,
    rows: npt.NDArray[np.intp],
    seed: int,
) -> FoldResult:
    test = sample.test.take(rows)
    follow = None if fold.follow is None else fold.follow.take(fold.test[rows])
    draws = patient_draws(rows if test.unit is None else test.unit, seed)

    def drawn(one: Tuned) -> Array:
        return mean_aurocs(test.y, one.risk[rows], draws, follow)

    alone = [contender.id for contender in contenders() if not contender.arm]
    parted = [contender for contender in contenders() if contender.arm]
    helping = [contender.id for contender in parted if contender.arm in HELPING]
    pairs = {BEST: (helping, alone)} | {
        contender.id: ([contender.id], [contender.learner]) for contender in parted
    }
    pairs |= {name: ([name], [linear()]) for name in alone if name == bent_line()}
    compared = {
        key: [best_of(finished, names, AUROC) for names in pair] for key, pair in pairs.items()
    }
    best, clustered = (best_of(finished, names, LOSS) for names in (alone, helping))
    predictions = None
    if sample.n_classes == 2:
        risks = {WITHOUT: best.risk[rows, 1], WITH: clustered.risk[rows, 1]}
        predictions = Predictions.of_part(fold.test[rows], test.unit, test.y, risks, follow)
    ours, theirs = compared[BEST]
    return FoldResult(
        place,
        tuple(np.bincount(test.y, minlength=sample.n_classes).tolist()),
        len(sample.train),
        declined=theirs.validation >= ours.validation,
        comparisons={key: _compare(drawn, *pair) for key, pair in compared.items()},
        best=best.contender,
        auroc=_auroc(drawn(best), predictions),
        predictions=predictions,
    )


def _compare(drawn: Callable[[Tuned], Array], ours: Tuned, theirs: Tuned) -> Compared:
    ahead, behind = drawn(ours), drawn(theirs)
    error = float(np.nanstd(ahead[1:] - behind[1:], ddof=1))
    return Compared(ours.contender, theirs.contender, float(ahead[0]), float(behind[0]), error)


def mean_aurocs(
    y: Ids, risk: Array, draws: npt.NDArray[Any], follow: FollowUp | None = None
) -> Array:
    """Return the AUROC on all rows, and on each draw of them: shape (1 + r,).

    `risk` has shape (n, n_classes), `draws` shape (n, r). For three classes or more it is the mean
    over the classes.
    """
    classes = [1] if risk.shape[1] == 2 else range(risk.shape[1])
    whom = (Patients((y == c).astype(np.int64), risk[:, c], follow) for c in classes)
    return np.asarray(np.mean([drawn_aurocs(member, draws) for member in whom], axis=0))


def _auroc(drawn: Array, predictions: Predictions | None) -> Estimate:
    """Return the AUROC of risks; of three classes or more the mean over them."""
    if predictions is not None:
        return score_intervals(predictions.of(WITHOUT), predictions.draws)[AUROC]
    return estimate("", float(drawn[0]), drawn[1:])
