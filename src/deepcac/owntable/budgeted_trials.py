"""The judge's protocol inside a number of minutes: resample after resample, all contenders each."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from deepcac.judge.contenders import ARMS, Contender
from deepcac.judge.learners import Array
from deepcac.judge.resamples import resamples
from deepcac.judge.spaces import of_kind
from deepcac.judge.trials import run_resample
from deepcac.owntable.labelled_table import LabelledTable

Say = Callable[[str], None]

BOOSTERS = ("lgbm", "hgb")  # the second where the first is not installed
SMALL_ROWS, RESAMPLES_SMALL, RESAMPLES = 2_500, 30, 10  # as in the study of the papers' data sets
FEWEST_RESAMPLES = 5  # are made however long they take
TRIALS = 8
CELLS_A_MINUTE = 150_000  # training rows times features, so that a resample takes half a minute
FEWEST_TRAIN, MOST_TRAIN = 500, 10_000


@dataclass(frozen=True)
class Effort:
    """What the comparison may cost.

    Attributes
    ----------
    minutes : float
    trials : int
        Draws a contender, the defaults among them.
    seed : int
        Of the first resample.
    """

    minutes: float = 3.0
    trials: int = TRIALS
    seed: int = 0


@dataclass(frozen=True)
class Trials:
    """What was run.

    Attributes
    ----------
    records : dict
        Contender to record, as of `deepcac.judge.trials.judge_rows`.
    planned : int
        Resamples that were planned; fewer were made if the time was over.
    train_rows : int
        Largest number of training rows.
    seconds : float
    """

    records: dict[str, dict[str, Any]]
    planned: int
    train_rows: int
    seconds: float
    seeds: list[int] = field(default_factory=list)


def linear() -> str:
    """Return logistic regression, the first of the plain learners."""
    return of_kind("plain")[0]


def booster() -> str:
    """Return the boosting that is installed."""
    return BOOSTERS[0] if find_spec("lightgbm") else BOOSTERS[1]


def contenders() -> list[Contender]:
    """Return logistic regression and boosting, alone and with every arm."""
    return [Contender(learner, arm) for learner in (linear(), booster()) for arm in ("", *ARMS)]


def run_budgeted(table: LabelledTable, effort: Effort, say: Say) -> Trials:
    """Run all trials of all contenders until the resamples are done or the time is over.

    The number of resamples made depends on the time, on no result.

    Parameters
    ----------
    table : LabelledTable
    effort : Effort
    say : callable
        Is told how far it is, in one line.
    """
    begin = time.monotonic()
    n, d = table.features.X.shape
    planned = RESAMPLES_SMALL if n < SMALL_ROWS else RESAMPLES
    limit = int(np.clip(CELLS_A_MINUTE * effort.minutes / d, FEWEST_TRAIN, MOST_TRAIN))
    fighters = contenders()
    found: dict[str, list[dict[str, Any]]] = {one.id: [] for one in fighters}
    seeds = []
    drawn = resamples(table.features, planned, limit, first=effort.seed, unit=table.group)
    for made, sample in enumerate(drawn, start=1):
        for place, one in enumerate(fighters, start=1):
            entry, _ = run_resample(sample, one, one.trials(effort.trials))
            found[one.id].append(entry)
            if made == 1:
                say(f"first resample: {place} of {len(fighters)} contenders")
        seeds.append(sample.seed)
        spent = time.monotonic() - begin
        each = spent / made
        left = min((planned - made) * each, max(60 * effort.minutes - spent, 0))
        left = max(left, (FEWEST_RESAMPLES - made) * each)
        say(f"resample {made} of {planned}: about {_duration(left)} left")
        if made >= FEWEST_RESAMPLES and spent + each > 60 * effort.minutes:
            break
    records = {one.id: _record(one, effort.trials, found[one.id]) for one in fighters}
    return Trials(records, planned, limit, time.monotonic() - begin, seeds)


def _record(one: Contender, trials: int, entries: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"contender": one.id, "arm": one.arm, "learner": one.learner, "synthetic": False}
    return {**head, "trials": one.trials(trials), "resamples": entries}


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def validation_scores(record: dict[str, Any], metric: str = "auroc") -> Array:
    """Return the validation scores of a record, of shape (resamples, trials)."""
    return np.array(
        [
            [trial["validation"][metric] for trial in sample["trials"]]
            for sample in record["resamples"]
        ]
    )
