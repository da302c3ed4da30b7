"""The judge's protocol inside a number of minutes: resamples, each with all contenders."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import cpu_count, delayed
from threadpoolctl import threadpool_limits

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.limits import MOST_ROWS
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.learners import Predict
from deepcac.judging.predictions import Predictions, predictions_of_choices, stack
from deepcac.judging.resamples import Resample, resamples
from deepcac.judging.spaces import Values, of_kind
from deepcac.judging.trial_record import TrialRecord, join_resamples
from deepcac.judging.trials import run_resample
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.worker_processes import workers

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
    """Discard a message."""


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
        """Number of parallel jobs."""
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
    """Return logistic regression and boosting, without clusters and with each tested kind of them.

    Logistic regression with splines comes last. Only the study uses cluster ids and soft weights
    as features, because each kind costs time and correction.
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
    """Return the default number of parallel jobs: one per core, at most `MOST_JOBS`."""
    return min(cpu_count(), MOST_JOBS)


def refuse_budget(needed: float, budget: float) -> None:
    """Raise `ConfigError` if the minimum work (`needed` seconds) would overrun `budget` minutes."""
    if needed > OVERRUN * 60 * budget:
        enough = float(np.ceil(needed / 6) / 10)
        raise ConfigError(
            f"--budget {budget:g}: the smallest comparison takes about {enough:g} minutes here; "
            f"say --budget {enough:g}, or take fewer rows of it"
        )


def refuse_slow(run: TableRun, call: Callable[[int], Any], parts: int, fewest: int) -> None:
    """Raise `ConfigError` if `fewest` calls, timed on a trial call, would overrun the budget.

    Only if the run is strict, and has no number of resamples.
    """
    if run.strict and run.resamples is None:
        _, seconds = _timed(call, 0)
        refuse_budget(seconds * parts * float(np.ceil(fewest / run.at_once)), run.budget)


def in_time(
    run: TableRun, call: Callable[[int], Any], planned: int, fewest: int, what: str
) -> Iterator[Any]:
    """Yield the results of ``call(0)``, ``call(1)``, ... in parallel until the budget is spent.

    How many of those `planned` are made depends on the time and on no result. A result does not
    depend on the process that computes it, nor on the others.

    Parameters
    ----------
    run : TableRun
        Has the time, unless it has a number of resamples.
    call : callable
        Runs in another process, with one thread.
    planned, fewest : int
        The second are made however long they take.
    what : str
        One of them, for who waits.
    """
    begin = time.monotonic()
    durations: list[float] = []

    def due() -> Iterator[int]:
        for made in range(planned):
            spent = time.monotonic() - begin + (float(np.mean(durations)) if durations else 0.0)
            over = run.resamples is None and made >= fewest and spent > 60 * run.budget
            if over:
                return
            yield made

    def needed(goal: int) -> float:
        return max(goal - len(durations), 0) * float(np.mean(durations)) / run.at_once

    jobs = min(run.at_once, planned)
    pool = workers(jobs, pre_dispatch=jobs, return_as="generator")
    for result, seconds in pool(delayed(_timed)(call, place) for place in due()):
        durations.append(seconds)
        left = needed(planned)
        if run.resamples is None:
            inside = max(60 * run.budget - (time.monotonic() - begin), 0)
            left = max(min(left, inside), needed(fewest))
        run.progress(f"{what} {len(durations)} of {planned}: about {duration(left)} left")
        yield result


def _timed(call: Callable[[int], Any], place: int) -> tuple[Any, float]:
    begin = time.monotonic()
    with threadpool_limits(1):
        return call(place), time.monotonic() - begin


def run_budgeted(
    table: LabelledTable,
    run: TableRun,
    fighters: Sequence[Contender] | None = None,
    fit: Fit = fit_trial,
) -> Trials:
    """Run all trials of all contenders on resamples, as many as there is time for (`in_time`).

    Parameters
    ----------
    fighters : sequence of Contender, optional
        `contenders` if None.
    fit : callable
        As `fit_trial`.
    """
    begin = time.monotonic()
    planned = run.resamples or usual_resamples(table)
    fighters = contenders() if fighters is None else fighters
    options = {"train_rows": run.train_rows, "unit": table.group, "follow": table.follow}
    judge = partial(_judge, table.features, run.seed, options, fighters, fit)
    refuse_slow(run, partial(judge, 1, _silent), run.trials, FEWEST_RESAMPLES)
    every = partial(judge, run.trials, run.progress)
    made, predictions = zip(
        *in_time(run, every, planned, FEWEST_RESAMPLES, "resample"), strict=True
    )
    follow = table.follow
    return Trials(
        records={parts[0].contender: join_resamples(parts) for parts in zip(*made, strict=True)},
        planned=planned,
        train_rows=run.train_rows,
        seconds=time.monotonic() - begin,
        seeds=list(range(run.seed, run.seed + len(made))),
        predictions=stack(predictions),
        rows=int(len(table.features.label) if follow is None else follow.outcome_known.sum()),
    )


def _judge(
    features: FeatureMatrix,
    seed: int,
    options: dict[str, Any],
    fighters: Sequence[Contender],
    fit: Fit,
    trials: int,
    say: Say,
    place: int,
) -> tuple[list[TrialRecord], Predictions | None]:
    """Run all contenders on one resample; return their records and test risks.

    `options` are those of `resamples`; a whole table is not sent about.
    """
    (sample,) = resamples(features, 1, first=seed + place, **options)
    records = []
    for done, contender in enumerate(fighters, start=1):
        records.append(run_resample(sample, contender, contender.trials(trials), fit))
        if place == 0:
            say(f"first resample: {done} of {len(fighters)} models")
    risks = predictions_of_choices(sample, records, features.row_id, options["follow"])
    return [replace(record, answers=[]) for record in records], risks


def duration(seconds: float) -> str:
    """Return seconds or minutes as a text."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
