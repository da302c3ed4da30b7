"""Clinical tasks: verdicts in small families, what decides, and estimates pooled over cohorts.

The rules are those of docs/archive/judge-plan.md, 2026-11-25.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from deepcac.files.atomic import atomic_path
from deepcac.judging.contenders import BESIDE, parse_contender
from deepcac.judging.questions import BENT, CLINICAL, DECISIVE, HELP, RANDOM, Question, pairs
from deepcac.judging.random_partitions import VIEWS
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.trial_scores import METRICS
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import BETTER
from deepcac.scoring.random_effects import pool_sites
from deepcac_study.judge.judgement_files import read_records

MARGINS = {"auroc": 0.01, "auprc": 0.01, "log_loss": 0.005, "brier": 0.002}
_PAIR = ["question", "metric", "contender", "reference"]
StrPath = str | os.PathLike[str]


def write_clinical(
    verdicts_path: StrPath,
    decisions_path: StrPath,
    pooled_path: StrPath,
    trial_paths: Iterable[StrPath],
    *,
    cohorts: Mapping[str, str],
    apart: Sequence[str],
    strict: float,
) -> None:
    """Write the verdicts, what they decide, and the pooled estimates as CSV.

    `cohorts` gives tasks of one cohort its name; tasks `apart` are judged in families of their own
    and enter no pooled estimate.
    """
    scores = resample_scores(read_records(trial_paths), [m for m in METRICS if m in MARGINS])
    table = pd.concat(
        [
            clinical_verdicts(part, strict)
            for part in (
                scores[~scores["dataset"].isin(apart)],
                scores[scores["dataset"].isin(apart)],
            )
        ],
        ignore_index=True,
    )
    documented = table[~table["dataset"].isin(apart)]
    written = (
        (verdicts_path, table),
        (decisions_path, decisions(table)),
        (pooled_path, pooled(documented, cohorts)),
    )
    for path, frame in written:
        with atomic_path(path) as partial:
            partial.write_text(frame.to_csv(index=False, float_format="%.5f"), encoding="utf-8")


def clinical_verdicts(scores: pd.DataFrame, strict: float) -> pd.DataFrame:
    """Judge each kind of clusters with each learner in families of its own.

    The rows are those of `deepcac.judging.verdicts.verdicts`; a family is one question, contender,
    reference and metric over the tasks.
    """
    parts = [
        verdicts(
            scores[scores["contender"].isin((name, reference))],
            MARGINS[metric],
            strict,
            questions=[question],
            metrics=[metric],
        )
        for question, name, reference in _families(sorted(set(scores.get("contender", ()))))
        for metric in MARGINS
    ]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=_COLUMNS)


_COLUMNS = [*_PAIR, "dataset", "verdict", "mean", "low", "high", "resamples"]


def _families(present: list[str]) -> Iterator[tuple[Question, str, str]]:
    for question in CLINICAL:
        for name, reference in pairs(question, present):
            yield question, name, reference


def decisions(table: pd.DataFrame) -> pd.DataFrame:
    """Return on which tasks clusters help: a row a task and kind of clusters with a learner.

    By AUROC: ``help``, ``random`` and ``bent`` are the verdicts over the learner alone, the average
    random partition and the bent line, and ``helps`` is whether all that apply are better.
    """
    main = table[(table["metric"] == "auroc") & table["question"].isin([q.id for q in DECISIVE])]
    rows = []
    for (dataset, name), comparisons in main.groupby(["dataset", "contender"], sort=True):
        by_question = dict(zip(comparisons["question"], comparisons["verdict"], strict=True))
        if HELP.id not in by_question or str(name).startswith(VIEWS):
            continue
        arm = parse_contender(str(name)).arm
        wanted = [HELP, BENT] if arm in BESIDE else [HELP, RANDOM, BENT]
        answers = [by_question.get(question.id) for question in wanted]
        helps = "" if None in answers else str(all(answer == BETTER for answer in answers)).lower()
        cells = {question.id: by_question.get(question.id, "") for question in DECISIVE}
        rows.append({"dataset": dataset, "contender": name, **cells, "helps": helps})
    return pd.DataFrame(rows, columns=["dataset", "contender", *(q.id for q in DECISIVE), "helps"])


def pooled(table: pd.DataFrame, cohorts: Mapping[str, str]) -> pd.DataFrame:
    """Pool the differences of each pair over cohorts, with what a new cohort would show.

    Tasks of a cohort enter as their mean, with the mean of their errors; a task on which clusters
    were never chosen has the median error of the others. Pairs of one cohort are left out.
    """
    rows = []
    for pair, group in table.groupby(_PAIR, sort=False):
        sites = by_cohort(group, cohorts)
        if len(sites) < 2:
            continue
        estimate = pool_sites(sites["mean"].to_numpy(), sites["error"].to_numpy())
        half = stats.t.ppf(0.975, estimate.freedom) * estimate.error
        interval = {"low": estimate.mean - half, "high": estimate.mean + half}
        beyond = {"tau": estimate.tau, "new_low": estimate.new_low, "new_high": estimate.new_high}
        head: dict[str, Any] = dict(zip(_PAIR, pair, strict=True))
        rows.append({**head, "cohorts": len(sites), "mean": estimate.mean, **interval, **beyond})
    columns = [*_PAIR, "cohorts", "mean", "low", "high", "tau", "new_low", "new_high"]
    return pd.DataFrame(rows, columns=columns)


def by_cohort(rows: pd.DataFrame, cohorts: Mapping[str, str]) -> pd.DataFrame:
    """Return mean and standard error of each cohort, from the verdicts of one pair.

    Empty where no task has an interval.
    """
    half = (rows["high"] - rows["low"]) / 2
    error = half / stats.t.ppf(0.975, rows["resamples"].to_numpy() - 1)
    error = error.where(error > 0)
    if not np.isfinite(error).any():
        return pd.DataFrame(columns=["mean", "error"])
    sites = pd.DataFrame({"mean": rows["mean"], "error": error.fillna(error.median())})
    names = rows["dataset"].map(lambda name: cohorts.get(name, name))
    return sites.groupby(names).mean()
