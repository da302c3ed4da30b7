"""Clinical tasks: verdicts in small families, decisions, and estimates pooled over cohorts.

The rules are those of docs/archive/judge-plan.md, 2026-11-25.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from deepcac.files.csv_files import write_frame
from deepcac.judging.choice import OFFERED
from deepcac.judging.contenders import BENT_OF, BESIDE, CAC, parse_contender
from deepcac.judging.questions import (
    BEND,
    BENT,
    CLINICAL,
    DECISIVE,
    FORCED,
    HELP,
    RANDOM,
    RIVALS,
    SEPARATED,
    Question,
    pairs,
)
from deepcac.judging.random_partitions import VIEWS
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import BETTER, LEVEL
from deepcac.scoring.margins import MARGIN, MARGINS
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.statistics import holm
from deepcac_study.catalogue.judge_plan import COHORT, FAMILY, Clinical
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.primary import Records, above_zero
from deepcac_study.judge.tables.over_tables import MAIN, errors

TASKS, VERDICTS, DECISIONS, POOLED = TABLES = ("tasks", "verdicts", "decisions", "pooled")
DECLINED = Question("bend_offered", "Do curves help the learner, where it may decline them?")
PARTITION = Question("partition", "Do random groups help the same learner?")
ABOVE_ZERO = "above 0"  # rows of CAC whose trials all have such an alpha
ALL, FINISHED = "all", "finished"
_ABOVE = (HELP, FORCED, RANDOM, BENT, SEPARATED)
PAIR = ["question", "metric", "contender", "alpha", "reference"]
_COLUMNS = [*PAIR, "dataset", "verdict", "mean", "low", "high", "resamples"]
StrPath = str | os.PathLike[str]


def write_clinical(
    paths: Iterable[StrPath],
    trial_paths: Iterable[StrPath],
    *,
    clinical: Mapping[str, Any],
    strict: float,
) -> None:
    """Write tables of `clinical_tables` as CSV; the name of each path selects its table.

    `trial_paths` are the records; `clinical` is that part of the configuration.
    """
    records = read_records(path for path in trial_paths if Path(path).exists())
    tables = clinical_tables(records, Clinical.model_validate(clinical), strict)
    for path in map(Path, paths):
        write_frame(path, tables[path.stem], 5)


def clinical_tables(records: Records, plan: Clinical, strict: float) -> dict[str, pd.DataFrame]:
    """Return the tables of the tasks whose contenders have all finished.

    ``tasks``: a row per task of the plan, finished or not. ``verdicts``: `clinical_verdicts`, with
    separate families for the tasks marked `apart`. ``decisions``: `decisions`. ``pooled``:
    `pooled`, without the tasks `apart`, by each way to count cohorts (``pooling``:
    `Clinical.poolings`) with a ``floor`` under the errors; and by `COHORT` without.
    """
    tasks = task_table(records, plan)
    finished = set(tasks.loc[tasks["status"] == FINISHED, "dataset"])
    wanted = plan.wanted()
    parts = [
        {
            name: {id_: record for id_, record in stored.items() if id_ in wanted[name]}
            for name, stored in records.items()
            if name in finished and (name in apart) == away
        }
        for apart in [set(plan.apart)]
        for away in (False, True)
    ]
    tables = [_all_verdicts(part, strict) for part in parts]
    estimates = [
        pooled(tables[0], cohorts, floor=floor).assign(pooling=name, floor=floor)
        for name, cohorts in plan.poolings().items()
        for floor in ((True, False) if name == COHORT else (True,))
    ]
    both = pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
    return {
        TASKS: tasks,
        VERDICTS: both,
        DECISIONS: decisions(both),
        POOLED: pd.concat(estimates, ignore_index=True),
    }


def task_table(records: Records, plan: Clinical) -> pd.DataFrame:
    """Return a row per task of the plan: cohort, size, seconds, and missing contenders.

    Tables that share patients are one cohort.
    ``status`` is `FINISHED`, or the contenders that have not finished, or `ALL`.
    """
    rows, cohorts = [], plan.poolings()[FAMILY]
    for dataset, wanted in plan.wanted().items():
        stored = records.get(dataset, {})
        lacking = [name for name in wanted if name not in stored]
        row: dict[str, Any] = {"dataset": dataset, "cohort": cohorts[dataset]}
        row |= {"apart": dataset in plan.apart, "status": " ".join(lacking) or FINISHED}
        if len(lacking) == len(wanted):
            row["status"] = ALL
        elif not lacking:
            first = stored[wanted[0]]
            row |= {"rows": first.about.get("n_rows"), "resamples": len(first.seeds)}
            row["minutes"] = sum(_seconds(stored[name]) for name in wanted) / 60
        rows.append(row)
    columns = ["dataset", "cohort", "apart", "status", "rows", "resamples", "minutes"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"rows": "Int64", "resamples": "Int64", "minutes": float})


def _seconds(record: TrialRecord) -> float:
    """Return the seconds of the whole job, including random partitions and their scores."""
    return float(record.about["machine"]["seconds"]["total"])


def _all_verdicts(records: Records, strict: float) -> pd.DataFrame:
    """Return verdicts on all contenders, and again on CAC with only its trials of alpha > 0."""
    metrics = tuple(MARGINS)
    chosen = clinical_verdicts(resample_scores(records, metrics), strict)
    above = clinical_verdicts(
        resample_scores(above_zero(records), metrics), strict, _ABOVE, only=CAC
    )
    filled = [part for part in (chosen, above.assign(alpha=ABOVE_ZERO)) if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else chosen


def clinical_verdicts(
    scores: pd.DataFrame,
    strict: float,
    questions: Iterable[Question] = CLINICAL,
    only: str = "",
) -> pd.DataFrame:
    """Return verdicts on each kind of clusters with each learner, in separate families.

    The rows are those of `deepcac.judging.verdicts.verdicts`; a family is one question, contender,
    reference and metric over the tasks; `only` restricts it to one kind. ``excluded`` and
    ``excluded_strict`` are "yes" where a gain of the margin, and of the stricter one, is excluded
    after correction, and ``excluded_together`` where it is with one correction over question and
    metric; empty where nothing is tested. ``alpha`` is empty: CAC may choose any.
    """
    present = sorted(set(scores.get("contender", ())))
    asked = [(question, pair) for question in questions for pair in pairs(question, present)]
    if only:
        asked = [(question, pair) for question, pair in asked if _arm(pair[0]) == only]
    else:
        asked += [(PARTITION, pair) for pair in _views(present)]
        asked += [
            (DECLINED, (f"{OFFERED}{name}", learner))
            for name, learner in BENT_OF.items()
            if f"{OFFERED}{name}" in present
        ]
    parts = [
        judge_family(compared, question, [pair], metric, strict)
        for question, pair in asked
        for compared in [_with_both(scores, pair)]
        for metric in MARGINS
    ]
    filled = [part for part in parts if len(part)]
    if not filled:
        return pd.DataFrame(columns=_COLUMNS)
    together = pd.concat(filled, ignore_index=True).assign(alpha="", excluded_together="")
    tested = together["excluded"] != ""
    by_metric = together[tested].groupby(["question", "metric"])["better"]
    adjusted = by_metric.transform(lambda p: pd.Series(holm(p.to_numpy(float)), p.index))
    together.loc[tested, "excluded_together"] = np.where(adjusted < LEVEL, "yes", "no")
    return together


def _arm(contender: str) -> str:
    return parse_contender(contender).arm


def _views(present: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of the random partitions, mean and best, and their learner."""
    for name in present:
        if name.startswith(VIEWS):
            yield name, name.rpartition("_")[2]


def _with_both(scores: pd.DataFrame, pair: tuple[str, str]) -> pd.DataFrame:
    """Return the scores of a pair on the tasks that have both."""
    present = [scores.loc[scores["contender"] == name, "dataset"].unique() for name in pair]
    both = set(present[0]).intersection(present[1])
    return scores[scores["contender"].isin(pair) & scores["dataset"].isin(both)]


def judge_family(
    compared: pd.DataFrame,
    question: Question,
    compared_pairs: Iterable[tuple[str, str]],
    metric: str,
    strict: float,
) -> pd.DataFrame:
    """Return the verdicts of one family, with exclusions by the margin and by a stricter one.

    The stricter margin is `strict` for AUROC, and half the margin for metrics with another one.
    """
    family = [*compared_pairs]
    margin = MARGINS[metric]
    stricter = strict if metric == MAIN or margin == MARGIN else margin / 2
    table = verdicts(compared, margin, stricter, [question], lambda *_: iter(family), [metric])
    if table.empty:
        return table
    mean, high, low = (table[name].to_numpy(float) for name in ("mean", "high", "low"))
    tested, freedom = high > low, table["resamples"].to_numpy() - 1
    sizes = (high - low)[tested] / 2 / special.stdtrit(freedom[tested], 1 - LEVEL / 2)
    p_strict = holm(special.stdtr(freedom[tested], (mean[tested] - stricter) / sizes))
    p_margin = table["p_gain_excluded_holm"].to_numpy(float)[tested]
    for name, p in (("excluded", p_margin), ("excluded_strict", p_strict)):
        table[name] = ""
        table.loc[tested, name] = np.where(p < LEVEL, "yes", "no")
    return table


def decisions(table: pd.DataFrame) -> pd.DataFrame:
    """Return whether clusters help: a row per task and kind of clusters with a learner.

    By AUROC: ``help``, ``random`` and ``bent`` are the verdicts against the learner alone, the
    average random partition and splines, and ``helps`` is whether all that apply are "better".
    ``detectable`` is the largest of the differences that these tests can detect for clusters that
    must be used: together they detect no smaller one with the same power.
    """
    tests = [q.id for q in (FORCED, *DECISIVE)]
    main = table[(table["metric"] == MAIN) & table["question"].isin(tests)]
    rows = []
    for (dataset, name, alpha), comparisons in main.groupby(
        ["dataset", "contender", "alpha"], sort=True
    ):
        verdict = dict(zip(comparisons["question"], comparisons["verdict"], strict=True))
        if HELP.id not in verdict or str(name).startswith(VIEWS):
            continue
        arm = _arm(str(name))
        wanted = [HELP, BENT] if arm in BESIDE else [HELP, RANDOM, BENT]
        answers = [verdict.get(question.id) for question in wanted]
        helps = "" if None in answers else str(all(answer == BETTER for answer in answers)).lower()
        cells = {question.id: verdict.get(question.id, "") for question in DECISIVE}
        row = {"dataset": dataset, "contender": name, "alpha": alpha}
        must = comparisons.loc[comparisons["question"] != HELP.id, "detectable"]
        rows.append({**row, **cells, "helps": helps, "detectable": must.max(skipna=False)})
    columns = ["dataset", "contender", "alpha", *(q.id for q in DECISIVE), "helps", "detectable"]
    return pd.DataFrame(rows, columns=columns)


def pooled(table: pd.DataFrame, cohorts: Mapping[str, str], *, floor: bool = False) -> pd.DataFrame:
    """Pool the differences of each pair over cohorts; `cohorts` maps the tasks that count.

    Tasks of a cohort enter as their mean, with the mean of their errors; a task on which clusters
    were never chosen gets the median error of the others. Pairs with a single cohort are left out.

    With `floor` that median is also the least error of a task on which clusters were chosen in some
    resamples only. In the others both sides are the same model, so its differences hardly vary, and
    without a floor it would outweigh the tasks on which clusters were used. CAC minus k-means has
    the floor on every task, because with an alpha of 0 both are the same model, and so has a rival
    that is optional.
    """
    rows = []
    counted = table[table["dataset"].isin(cohorts)]
    for pair, group in counted.groupby(PAIR, sort=False):
        sites = by_cohort(group, cohorts, floor=floor)
        if len(sites) < 2:
            continue
        estimate = pool_sites(sites["mean"].to_numpy(), sites["error"].to_numpy())
        half = stats.t.ppf(0.975, estimate.freedom) * estimate.error
        interval = {"low": estimate.mean - half, "high": estimate.mean + half}
        head: dict[str, Any] = dict(zip(PAIR, pair, strict=True))
        sizes = {"tasks": len(group), "cohorts": len(sites)}
        rows.append({**head, **sizes, "mean": estimate.mean, **interval, "tau": estimate.tau})
    columns = [*PAIR, "tasks", "cohorts", "mean", "low", "high", "tau"]
    return pd.DataFrame(rows, columns=columns)


def by_cohort(
    rows: pd.DataFrame, cohorts: Mapping[str, str], *, floor: bool = False
) -> pd.DataFrame:
    """Return mean and standard error of each cohort, from the verdicts of one pair.

    Empty where no task has an interval. `floor` as in `pooled`.
    """
    numbers = rows[["low", "high", "resamples"]].astype(float)
    error = pd.Series(errors(numbers), rows.index)
    error = error.where(error > 0)
    if not np.isfinite(error).any():
        return pd.DataFrame(columns=["mean", "error"])
    typical = float(error.median())
    if floor:
        # Two different models differ in every resample; a floor is for a model against itself.
        alike = ~rows["question"].isin([BENT.id, BEND.id, RIVALS.id])
        sometimes = (rows["clustered"] < rows["resamples"]) & alike
        sometimes |= rows["question"].isin([SEPARATED.id, DECLINED.id])
        error = error.mask(sometimes, error.clip(lower=typical))
    sites = pd.DataFrame({"mean": rows["mean"], "error": error.fillna(typical)})
    names = rows["dataset"].map(lambda name: cohorts.get(name, name))
    return sites.groupby(names).mean()
