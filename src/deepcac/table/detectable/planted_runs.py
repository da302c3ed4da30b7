"""Planted outcomes on the rows of a table, judged like the table itself, until the time is over."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import CAC, KM, Contender
from deepcac.judging.planted_outcomes import (
    TOLD,
    PlantingGround,
    plant,
    planted_comparisons,
    planted_follow_up,
    planting_ground,
    with_true_subtype,
)
from deepcac.judging.questions import HELP, pairs
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trials import Effort as Trials
from deepcac.judging.trials import judge_samples
from deepcac.scoring.equivalence import BETTER, LEVEL
from deepcac.table.budgeted_trials import (
    MOST_TRAIN,
    Say,
    contenders,
    linear,
    refuse_budget,
    table_resamples,
    usual_resamples,
)
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.worker_processes import workers

STRENGTHS = (0.0, 0.25, 0.5, 0.8, 1.2, 2.0)
MOST_COHORTS, FEWEST_COHORTS = 20, 2
TRIALS = 2  # per model; fewer than in a comparison, so that there are more cohorts
WAYS = {f"{KM}_": "k-means", f"{CAC}_": "CAC", TOLD: "with the true subtypes"}
FOUND = "k-means or CAC"


@dataclass(frozen=True)
class Protocol:
    """What each planted cohort is judged by.

    Attributes
    ----------
    resamples : int
        As many as a comparison of this table plans.
    tests : int
        Comparisons of a family: the first step of Holm's procedure divides by it.
    """

    resamples: int
    tests: int


@dataclass(frozen=True)
class PlantedRuns:
    """What became of the planted cohorts.

    Attributes
    ----------
    table : DataFrame
        A row a cohort, strength and way: ``cohort``, ``strength``, ``gain`` (AUROC), ``way`` (of
        `WAYS`, or `FOUND`), ``mean`` (difference in AUROC) and ``detected``.
    protocol : Protocol
    seconds : float
    """

    table: pd.DataFrame
    protocol: Protocol
    seconds: float

    @property
    def cohorts(self) -> int:
        """Cohorts of each strength."""
        return int(self.table["cohort"].nunique())


def protocol(table: LabelledTable) -> Protocol:
    """Return how a comparison of the table would judge it."""
    tests = list(pairs(HELP, [contender.id for contender in contenders()]))
    return Protocol(usual_resamples(table), len(tests))


def run_planted(
    table: LabelledTable, budget: float, jobs: int, seed: int, say: Say, *, strict: bool = False
) -> PlantedRuns:
    """Judge planted cohorts of every strength, cohort after cohort, until the time is over.

    The table has a label of two classes. At least `FEWEST_COHORTS` cohorts a strength are judged,
    however long they take; `jobs` at once. `strict` refuses a budget that would be overrun.
    """
    begin = time.monotonic()
    plan = protocol(table)
    ground = planting_ground(table.features, seed, table.follow, table.group)
    if strict:
        _, seconds = _judge(ground, STRENGTHS[-1], seed, Protocol(1, plan.tests), table.group)
        rounds = np.ceil(FEWEST_COHORTS * len(STRENGTHS) / jobs)
        refuse_budget(seconds * plan.resamples * rounds, budget)
    durations: list[float] = []

    def due() -> Iterator[tuple[float, int]]:
        """Yield cohorts, all strengths of one before the next, as long as there is time."""
        for cohort in range(MOST_COHORTS):
            ahead = len(STRENGTHS) * (float(np.mean(durations)) if durations else 0.0) / jobs
            over = time.monotonic() - begin + ahead > 60 * budget
            if cohort >= FEWEST_COHORTS and over:
                return
            yield from ((strength, cohort) for strength in STRENGTHS)

    pool = workers(jobs, pre_dispatch=jobs, return_as="generator")
    rows: list[dict[str, Any]] = []
    for cohort_rows, seconds in pool(
        delayed(_judge)(ground, strength, seed + cohort, plan, table.group)
        for strength, cohort in due()
    ):
        rows += cohort_rows
        durations.append(seconds)
        if len(durations) % len(STRENGTHS) == 0:
            say(f"planted cohort {len(durations) // len(STRENGTHS)} of at most {MOST_COHORTS}")
    return PlantedRuns(pd.DataFrame(rows), plan, time.monotonic() - begin)


def _judge(
    ground: PlantingGround, strength: float, seed: int, plan: Protocol, unit: Any
) -> tuple[list[dict[str, Any]], float]:
    """Judge one planted cohort with one thread; return a row a way, and the seconds."""
    begin = time.monotonic()
    with threadpool_limits(1):
        matrix, gain = plant(ground, strength, seed)
        follow = None
        if ground.follow is not None:
            follow = planted_follow_up(ground.follow, matrix.label, seed)
            matrix = replace(matrix, label=follow.outcome)
        effort = Trials(plan.resamples, plan.resamples, 0, MOST_TRAIN, TRIALS, TRIALS)
        fighters = [Contender(linear(), arm) for arm in ("", KM, CAC)]
        records: dict[str, TrialRecord] = {}
        for rows, who, before in (
            (matrix, fighters, ""), (with_true_subtype(matrix, ground.subtype), fighters[:1], TOLD),
        ):  # fmt: skip
            drawn = table_resamples(rows, plan.resamples, MOST_TRAIN, unit=unit, follow=follow)
            judged = judge_samples(drawn, who, effort)
            records |= {before + record.contender: record for record in judged}
    head = {"cohort": seed, "strength": strength, "gain": gain}
    outcomes = [
        {
            **head,
            "way": way,
            "mean": comparison["mean"],
            "detected": _detected(comparison, plan.tests),
        }
        for comparison in planted_comparisons(records, [HELP], 0.0)
        for before, way in WAYS.items()
        if comparison["contender"].startswith(before)
    ]
    clustered = [outcome for outcome in outcomes if outcome["way"] != WAYS[TOLD]]
    best = max(clustered, key=lambda outcome: (outcome["detected"], outcome["mean"]))
    return [*outcomes, {**best, "way": FOUND}], time.monotonic() - begin


def _detected(comparison: dict[str, Any], tests: int) -> bool:
    return bool(comparison["verdict"] == BETTER and comparison["p"] < LEVEL / tests)
