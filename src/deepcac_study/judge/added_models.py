"""Comparisons on clinical tasks added after the plan: clusters on splines, and further cohorts.

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
from deepcac_study.judge.clinical_tasks import clinical_verdicts, judge_family, pooled
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.primary import Records
from deepcac_study.judge.tables.over_tables import MAIN

ON_SPLINES, COHORTS, POOLED = TABLES = ("on_splines", "cohorts", "pooled")
_SPLINES = "spline_lr"
_KINDS = (KM, CAC, *BESIDE)
StrPath = str | os.PathLike[str]
Pairs = Iterable[tuple[str, str]]


def write_added(
    paths: Iterable[StrPath],
    trial_paths: Iterable[StrPath],
    *,
    clinical: Mapping[str, Any],
    strict: float,
) -> None:
    """Write tables of `added_tables` as CSV; the name of each path selects its table.

    Arguments are as in `write_clinical`.
    """
    records = read_records(path for path in trial_paths if Path(path).exists())
    tables = added_tables(records, Clinical.model_validate(clinical), strict)
    for path in map(Path, paths):
        write_frame(path, tables[path.stem], 5)


def added_tables(records: Records, plan: Clinical, strict: float) -> dict[str, pd.DataFrame]:
    """Return the verdicts of both experiments, and their estimates pooled over cohorts.

    ``on_splines``: `judge_on_splines`. ``cohorts``: `judge_cohorts`. ``pooled``: pooled estimates
    of the first, and of all clinical tasks with the added cohorts, by each way to count cohorts.
    """
    tasks = [name for name in plan.datasets if name not in plan.apart]
    everywhere = [*tasks, *plan.added.datasets]
    splines = _chosen(records, everywhere, [_SPLINES, *plan.added.on_splines])
    every = _chosen(records, everywhere, plan.contenders)
    cohorts = _chosen(records, plan.added.datasets, [*plan.contenders, *plan.added.contenders])
    on_splines = judge_on_splines(splines, strict)
    together = clinical_verdicts(resample_scores(every, tuple(MARGINS)), strict)
    estimates = [
        pooled(table, pooling, floor=True).assign(experiment=experiment, pooling=name)
        for experiment, table in ((ON_SPLINES, on_splines), (COHORTS, together))
        for name, pooling in plan.poolings(added=True).items()
    ]
    return {
        ON_SPLINES: on_splines,
        COHORTS: judge_cohorts(cohorts, strict),
        POOLED: pd.concat(estimates, ignore_index=True),
    }


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


def _chosen(records: Records, tasks: Iterable[str], names: Iterable[str]) -> Records:
    """Return some records; `DataError` if one is missing, so that no incomplete family is seen."""
    wanted = [(task, name) for task in tasks for name in names]
    lacking = [f"{task}/{name}" for task, name in wanted if name not in records.get(task, {})]
    if lacking:
        raise DataError(
            f"{len(lacking)} of {len(wanted)} records have not finished ({lacking[0]} ...)"
        )
    chosen: dict[str, dict[str, Any]] = {}
    for task, name in wanted:
        chosen.setdefault(task, {})[name] = records[task][name]
    return chosen


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
