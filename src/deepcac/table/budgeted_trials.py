"""The judge's protocol inside a number of minutes: resamples, each with all contenders."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import cpu_count, delayed
from threadpoolctl import threadpool_limits

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.learners import Predict
from deepcac.judging.resamples import Resample, Rows, resamples
from deepcac.judging.spaces import Values, of_kind
from deepcac.judging.trial_record import TrialRecord, join_resamples
from deepcac.judging.trials import run_resample
from deepcac.preprocess import TableScaler
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.limits import MOST_ROWS
from deepcac.table.predictions import Predictions, predictions_of_choices, stack
from deepcac.table.worker_processes import workers
from deepcac.types import Array

Say = Callable[[str], None]
Fit = Callable[[Contender, Values, Resample], Predict]

BOOSTERS = ("lgbm", "hgb")  # the second where the first is not installed
SMALL_ROWS, RESAMPLES_SMALL, RESAMPLES = 2_500, 30, 10  # as in the study of the papers' data sets
FEWEST_RESAMPLES = 5  # are made however long they take
TRIALS = 8
MOST_TRAIN = 10_000  # training rows, unless more or fewer are asked for
OVERRUN = 2.0  # times the budget
MOST_JOBS = 8  # unless more are asked for: each is a process with its own copy of the table


def _silent(line: str) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class TableRun:
    """How a command works on a table; the names are those of its options.

    Attributes
    ----------
    say : callable
        Is called with what a user should know.
    command : str
        What the page says it was made by.
    progress : callable
        Is called with how far it is.
    rows : int
        Of more rows than this a sample is used.
    seed : int
    jobs : int or None
        What is done at once; `usual_jobs` if None. It changes no number, but more resamples fit
        into the time.
    budget : float
        Minutes for a comparison; at least five resamples are made.
    strict : bool
        Whether a budget is refused that would be overrun by more than `OVERRUN`.
    resamples : int or None
        Made exactly, whatever the time.
    train_rows : int
        Of more training rows a part is drawn in each resample. The budget never changes it.
    trials : int
        Draws a contender, the defaults among them.
    bootstrap : int
        How often the whole choice of a model is made again on patients drawn with replacement.
    exact : bool
        Whether page and card are the owner's own, with true counts.
    """

    say: Say = _silent
    command: str = ""
    progress: Say = _silent
    rows: int = MOST_ROWS
    seed: int = 0
    jobs: int | None = None
    budget: float = 3.0
    strict: bool = False
    resamples: int | None = None
    train_rows: int = MOST_TRAIN
    trials: int = TRIALS
    bootstrap: int = 0
    exact: bool = False

    @property
    def at_once(self) -> int:
        """How much is done at once."""
        return self.jobs or usual_jobs()


@dataclass(frozen=True)
class Trials:
    """What was run.

    Attributes
    ----------
    records : dict
        Contender to `TrialRecord`.
    planned : int
        Resamples that were planned; fewer were made if the time was over.
    train_rows : int
        Largest number of training rows.
    seconds : float
    jobs : int
        Resamples that were judged at once.
    seeds : list of int
        Of the resamples that were made.
    predictions : Predictions or None
        Risks of the test rows, of two classes.
    rows : int
        Rows of the table whose outcome is known.
    """

    records: dict[str, TrialRecord]
    planned: int
    train_rows: int
    seconds: float
    jobs: int = 1
    seeds: list[int] = field(default_factory=list)
    predictions: Predictions | None = None
    rows: int = 0

    @property
    def trained_on(self) -> int:
        """Training rows of a resample."""
        return max(size["n_train"] for size in next(iter(self.records.values())).sizes)

    @property
    def cut(self) -> bool:
        """Whether training rows were left out: the parts of a resample are then not all rows."""
        return sum(next(iter(self.records.values())).sizes[0].values()) < self.rows


def linear() -> str:
    """Return logistic regression, the first of the plain learners."""
    return of_kind("plain")[0]


def booster() -> str:
    """Return the boosting that is installed."""
    return BOOSTERS[0] if find_spec("lightgbm") else BOOSTERS[1]


def contenders() -> list[Contender]:
    """Return logistic regression and boosting, without clusters and with the ways that are tested.

    Beside them stands a line that bends without clusters. Cluster ids and soft weights as features
    are the study's: each way costs time and correction.
    """
    arms = ("", KM, CAC, DISTANCES, CELLS, HASH)
    parted = [Contender(learner, arm) for learner in (linear(), booster()) for arm in arms]
    return [*parted, Contender(bent_line())]


def bent_line() -> str:
    """Return logistic regression with splines, the first of those that bend without clusters."""
    return of_kind("bent")[0]


def simplicity(learner: str) -> int:
    """Return the place of a learner among those a model is recommended from, the simplest first."""
    return (linear(), bent_line(), *BOOSTERS).index(learner)


def usual_resamples(table: LabelledTable) -> int:
    """Return how many resamples are planned for a table."""
    return RESAMPLES_SMALL if len(table.features.label) < SMALL_ROWS else RESAMPLES


def usual_jobs() -> int:
    """Return how many resamples are judged at once if nobody says: one a core, at most eight."""
    return min(cpu_count(), MOST_JOBS)


def as_resample(
    table: LabelledTable, scaler: TableScaler, seed: int, weight: Array | None = None
) -> Resample:
    """Return all rows as a resample, each of whose parts they are."""
    features = table.features
    X, y = features.X, features.label
    rows = Rows(X, scaler.transform(X), y, features.row_id, table.group, weight)
    return Resample(rows, rows, rows, features.n_classes, seed)


def refuse_budget(needed: float, budget: float) -> None:
    """Refuse minutes too few for the least that is judged, which needs `needed` seconds."""
    if needed > OVERRUN * 60 * budget:
        enough = float(np.ceil(needed / 6) / 10)
        raise ConfigError(
            f"--budget {budget:g}: the least that is judged takes about {enough:g} minutes here; "
            f"say --budget {enough:g}, or take fewer rows of it"
        )


def _least_seconds(
    table: LabelledTable, run: TableRun, fighters: Sequence[Contender], fit: Fit
) -> float:
    """Return about how long the fewest resamples take, from a trial of each contender."""
    begin = time.monotonic()
    drawn = (table.features, 1, run.train_rows)
    options = {"first": run.seed, "unit": table.group, "follow": table.follow}
    _judge(drawn, options, fighters, 1, None, fit)
    rounds = np.ceil(FEWEST_RESAMPLES / run.at_once)
    return float((time.monotonic() - begin) * run.trials * rounds)


def run_budgeted(
    table: LabelledTable,
    run: TableRun,
    fighters: Sequence[Contender] | None = None,
    fit: Fit = fit_trial,
) -> Trials:
    """Run all trials of all contenders until the resamples are done or the time is over.

    The number of resamples made depends on the time, on no result; each resample has its own
    seed, so that it says the same whoever judges it, and beside whatever others.

    Parameters
    ----------
    fighters : sequence of Contender, optional
        `contenders` if None.
    fit : callable
        As `fit_trial`.
    """
    begin = time.monotonic()
    n = len(table.features.label)
    planned = run.resamples or usual_resamples(table)
    limit = run.train_rows
    fighters = contenders() if fighters is None else fighters
    if run.strict and run.resamples is None:
        refuse_budget(_least_seconds(table, run, fighters, fit), run.budget)
    durations: list[float] = []
    pool = workers(run.at_once, pre_dispatch=run.at_once, return_as="generator")
    made: list[list[TrialRecord]] = []
    predictions: list[Predictions | None] = []
    for resample_records, risks, seconds in pool(
        delayed(_judge)(
            (table.features, 1, limit),
            {"first": seed, "unit": table.group, "follow": table.follow}, fighters, run.trials,
            run.progress if seed == run.seed else None, fit,
        )
        for seed in _due(run, planned, durations)
    ):  # fmt: skip
        made.append(resample_records)
        predictions.append(risks)
        durations.append(seconds)
        left = _left(run, planned, durations, time.monotonic() - begin)
        run.progress(f"resample {len(made)} of {planned}: about {duration(left)} left")
    records = {parts[0].contender: join_resamples(parts) for parts in zip(*made, strict=True)}
    seeds = list(range(run.seed, run.seed + len(made)))
    spent = time.monotonic() - begin
    n_labelled = n if table.follow is None else int(table.follow.outcome_known.sum())
    return Trials(
        records, planned, limit, spent, run.at_once, seeds, stack(predictions), n_labelled
    )


def _due(run: TableRun, planned: int, durations: Sequence[float]) -> Iterator[int]:
    """Yield seeds while there is time for a resample more; `durations` grows with those made."""
    begin = time.monotonic()
    for made in range(planned):
        spent = time.monotonic() - begin + (float(np.mean(durations)) if durations else 0.0)
        over = run.resamples is None and made >= FEWEST_RESAMPLES
        if over and spent > 60 * run.budget:
            return
        yield run.seed + made


def _judge(
    drawn: tuple[FeatureMatrix, int, int],
    options: dict[str, Any],
    fighters: Sequence[Contender],
    trials: int,
    say: Say | None,
    fit: Fit,
) -> tuple[list[TrialRecord], Predictions | None, float]:
    """Run all contenders on one resample; return their records, test risks, and seconds.

    `drawn` and `options` are what `resamples` is given; a whole table is not sent about.
    """
    begin = time.monotonic()
    (sample,) = resamples(*drawn, **options)
    records = []
    with threadpool_limits(1):
        for place, contender in enumerate(fighters, start=1):
            records.append(run_resample(sample, contender, contender.trials(trials), fit))
            if say is not None:
                say(f"first resample: {place} of {len(fighters)} models")
    risks = predictions_of_choices(sample, records, drawn[0].row_id, options["follow"])
    records = [replace(record, answers=[]) for record in records]
    return records, risks, time.monotonic() - begin


def _left(run: TableRun, planned: int, durations: list[float], spent: float) -> float:
    """Return the seconds that are left, by the time that the resamples took."""
    average, made = float(np.mean(durations)), len(durations)

    def needed(goal: int) -> float:
        return max(goal - made, 0) * average / run.at_once

    if run.resamples is not None:
        return needed(planned)
    inside = min(needed(planned), max(60 * run.budget - spent, 0))
    return max(inside, needed(FEWEST_RESAMPLES))


def duration(seconds: float) -> str:
    """Return seconds or minutes as a text."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
