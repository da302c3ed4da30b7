"""Comparisons on clinical tasks added after the plan: more models, more cohorts, second runs.

The families were fixed before the first result: docs/archive/judge-plan-evidence.md, part 2.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.errors import DataError
from deepcac.files.csv_files import write_frame
from deepcac.judging.contenders import BENT_OF, BESIDE, CAC, CELLS, KM
from deepcac.judging.questions import ANY, BEND, BENT, FORCED, HELP, RANDOM, RIVALS, Question
from deepcac.judging.random_partitions import EACH
from deepcac.judging.resample_scores import resample_scores
from deepcac.scoring.equivalence import BETTER
from deepcac.scoring.margins import MARGINS
from deepcac_study.catalogue.judge_plan import Clinical
from deepcac_study.judge.clinical_tasks import (
    PAIR,
    POOLED,
    VERDICTS,
    clinical_tables,
    clinical_verdicts,
    judge_family,
    pooled,
)
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.primary import Records
from deepcac_study.judge.tables.over_tables import MAIN

_SPLINES = "spline_lr"
_KINDS = (KM, CAC, *BESIDE)
TOGETHER = "pooled over cohorts"  # in place of a data set
StrPath = str | os.PathLike[str]
Pairs = Iterable[tuple[str, str]]


def write_on_splines(
    verdicts: StrPath,
    pooled_path: StrPath,
    trial_paths: Iterable[StrPath],
    *,
    clinical: Mapping[str, Any],
    strict: float,
) -> None:
    """Write verdicts on splines with clusters on all tasks, and the estimates pooled over cohorts.

    Arguments are as in `write_clinical`.
    """
    plan = Clinical.model_validate(clinical)
    chosen = _chosen(trial_paths, _tasks(plan), [_SPLINES, *plan.added.on_splines])
    table = judge_on_splines(chosen, strict)
    write_frame(verdicts, table, 5)
    write_frame(pooled_path, _pooled(table, plan), 5)


def write_cohorts(
    verdicts: StrPath,
    pooled_path: StrPath,
    trial_paths: Iterable[StrPath],
    *,
    clinical: Mapping[str, Any],
    strict: float,
) -> None:
    """Write verdicts on the added cohorts, and estimates of all clinical tasks with them, pooled.

    Arguments are as in `write_clinical`.
    """
    plan = Clinical.model_validate(clinical)
    every = _chosen(trial_paths, _tasks(plan), plan.contenders)
    wanted = [*plan.contenders, *plan.added.contenders]
    cohorts = _chosen(trial_paths, plan.added.datasets, wanted)
    write_frame(verdicts, judge_cohorts(cohorts, strict), 5)
    together = clinical_verdicts(resample_scores(every, tuple(MARGINS)), strict)
    write_frame(pooled_path, _pooled(together, plan), 5)


def write_second_run(
    path: StrPath,
    trial_paths: Iterable[StrPath],
    again_paths: Iterable[StrPath],
    *,
    clinical: Mapping[str, Any],
    strict: float,
) -> None:
    """Write what changes where tasks leave out what may not be known when they predict.

    `again_paths` are the records of the second run; other arguments are as in `write_clinical`.
    """
    plan = Clinical.model_validate(clinical)
    planned = _chosen(trial_paths, plan.datasets, plan.contenders)
    again = _chosen(again_paths, plan.added.known_then, plan.contenders)
    write_frame(path, judge_second_run(planned, again, plan, strict), 5)


def write_by_place(
    path: StrPath, trial_paths: Iterable[StrPath], *, clinical: Mapping[str, Any], strict: float
) -> None:
    """Write verdicts on tasks whose groups were held out whole, as in `write_clinical`."""
    tables = [
        judge_by_place(_chosen(trial_paths, match.datasets, match.contenders), strict)
        for match in Clinical.model_validate(clinical).added.by_place
    ]
    write_frame(path, pd.concat(tables, ignore_index=True), 5)


def judge_second_run(
    planned: Records, again: Records, plan: Clinical, strict: float
) -> pd.DataFrame:
    """Return verdicts and pooled estimates of the planned and of the second run, side by side.

    Rows are tasks of `again`, and all cohorts together (``dataset`` is `TOGETHER`), by each way to
    count those that share patients (``pooling``).
    Families are the plan's, with the records of `again` in place of the planned ones.
    """
    first, second = (
        _single_and_pooled(clinical_tables({**planned, **replaced}, plan, strict), [*again])
        for replaced in ({}, again)
    )
    key = [*PAIR, "dataset", "pooling"]
    return first.merge(second, on=key, suffixes=("_planned", "_known"), validate="1:1")


def _single_and_pooled(tables: Mapping[str, pd.DataFrame], tasks: list[str]) -> pd.DataFrame:
    """Return verdicts on `tasks`, and estimates by each way to pool cohorts, in one table."""
    verdicts, estimates = tables[VERDICTS], tables[POOLED]
    single = verdicts[verdicts["dataset"].isin(tasks)]
    together = estimates[estimates["floor"]].assign(dataset=TOGETHER, verdict="")
    rows = pd.concat([single.assign(pooling=""), together], ignore_index=True)
    asked = rows["question"].isin([question.id for question in (HELP, FORCED, RANDOM, BENT)])
    return rows.loc[asked, [*PAIR, "dataset", "pooling", "verdict", "mean", "low", "high"]]


def judge_by_place(records: Records, strict: float) -> pd.DataFrame:
    """Compare clusters with a learner and with splines, without a decision.

    A family is one question, learner and metric over the kinds of clusters.
    """
    tables = []
    for learner in dict.fromkeys(BENT_OF.values()):
        kinds = [f"{arm}_{learner}" for arm in _KINDS]
        families: list[tuple[Question, Pairs]] = [
            (HELP, [(name, learner) for name in kinds]),
            (FORCED, [(name, learner) for name in kinds]),
            (BENT, [(name, _SPLINES) for name in kinds]),
        ]
        tables.append(_judged(records, families, (HELP,), strict).drop(columns="helps"))
    return pd.concat(tables, ignore_index=True)


def judge_on_splines(records: Records, strict: float) -> pd.DataFrame:
    """Compare splines with clusters to splines alone, and to splines in random groups.

    A family is one question and metric over all kinds of clusters and tasks. ``helps``: better by
    AUROC than splines, where clusters are optional, and than random groups.
    """
    arms = [arm for arm in _KINDS if all(f"{arm}_{_SPLINES}" in own for own in records.values())]
    alone = [(f"{arm}_{_SPLINES}", _SPLINES) for arm in arms]
    random = [(name, f"{CELLS}_{_SPLINES}") for name, _ in alone]
    return _judged(records, [(HELP, alone), (FORCED, alone), (ANY, random)], (HELP, ANY), strict)


def judge_cohorts(records: Records, strict: float) -> pd.DataFrame:
    """Compare clusters with a learner, with random groups of equal effort, and with splines.

    A family is one question, learner and metric over the kinds of clusters and the cohorts.
    ``helps``: better by AUROC than all three, or than both where a kind has no random groups.
    Comparisons with other models without clusters, and of these with the learner, do not count.
    """
    tables = []
    for learner in dict.fromkeys(BENT_OF.values()):
        kinds = [f"{arm}_{learner}" for arm in _KINDS]
        rivals = [name for name in BENT_OF if name != _SPLINES]
        families: list[tuple[Question, Pairs]] = [
            (HELP, [(name, learner) for name in kinds]),
            (FORCED, [(name, learner) for name in kinds]),
            (RANDOM, [(f"{arm}_{learner}", f"{EACH}_{learner}") for arm in (KM, CAC)]),
            (BENT, [(name, _SPLINES) for name in kinds]),
            (RIVALS, [(name, rival) for name in kinds for rival in rivals]),
            (BEND, [(name, own) for name, own in BENT_OF.items() if own == learner]),
        ]
        tables.append(_judged(records, families, (HELP, RANDOM, BENT), strict))
    return pd.concat(tables, ignore_index=True)


def _tasks(plan: Clinical) -> list[str]:
    """Return all tasks that count, those of the added cohorts last."""
    return [*(name for name in plan.datasets if name not in plan.apart), *plan.added.datasets]


def _pooled(table: pd.DataFrame, plan: Clinical) -> pd.DataFrame:
    """Return the estimates pooled over cohorts, by each way to count them."""
    return pd.concat(
        [
            pooled(table, pooling, floor=True).assign(pooling=name)
            for name, pooling in plan.poolings(added=True).items()
        ],
        ignore_index=True,
    )


def _chosen(paths: Iterable[StrPath], tasks: Iterable[str], names: Iterable[str]) -> Records:
    """Read records; `DataError` if one is missing, so that no incomplete family is seen."""
    places = {Path(path).parts[-2:]: path for path in paths}
    wanted = [(task, f"{name}.json") for task in tasks for name in names]
    lacking = [place for place in wanted if place not in places or not Path(places[place]).exists()]
    if lacking:
        first = "/".join(lacking[0])
        raise DataError(f"{len(lacking)} of {len(wanted)} records have not finished ({first} ...)")
    return read_records(places[place] for place in wanted)


def _judged(
    records: Records,
    families: Iterable[tuple[Question, Pairs]],
    decisive: Iterable[Question],
    strict: float,
) -> pd.DataFrame:
    """Return the verdicts of families, with a column ``helps``: all decisive ones are better."""
    scores = resample_scores(records, tuple(MARGINS))
    table = pd.concat(
        [
            judge_family(scores, question, pairs, metric, strict)
            for question, pairs in families
            for metric in MARGINS
        ],
        ignore_index=True,
    ).assign(alpha="")
    asked = table["question"].isin([question.id for question in decisive])
    main = table[asked & (table["metric"] == MAIN)]
    helps = (main["verdict"] == BETTER).groupby([main["dataset"], main["contender"]]).all()
    places = pd.MultiIndex.from_frame(table[["dataset", "contender"]])
    return table.assign(helps=helps.reindex(places, fill_value=False).to_numpy())
