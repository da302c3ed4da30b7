"""Power and cost of clusters by clinic size: when they are found, and the loss from offering them.

The plan is in docs/archive/judge-plan-evidence.md, "What the study can see, by size".

    snakemake --cores 2 -- results/judge/by_size/{nafld_5y,flchain_5y}_{400,800,1600,3200}.json ...
    python -m deepcac_study.judge.by_size results/judge/by_size/*.json docs/results/by_size.csv
"""

import argparse
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn import config_context

from deepcac.errors import one_line_errors
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json, write_json
from deepcac.judging.choice import simplest
from deepcac.judging.contenders import CAC, KM, Contender, parse_contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.questions import ANY, BENT, HELP, Question
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.judging.trial_record import PARTS, SIZES, VALIDATION, TrialRecord, join_resamples
from deepcac.judging.trial_scores import METRICS
from deepcac.judging.trials import Effort, study_resamples
from deepcac.judging.verdicts import verdicts
from deepcac.preprocess import TableScaler
from deepcac.scoring.equivalence import BETTER
from deepcac.scoring.margins import MARGIN, STRICT
from deepcac.types import Array, Ids
from deepcac_study.judge.planted_sizes import Cohort, draw_cohort, ground, worth
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.tables.made_with import start_clock
from deepcac_study.records.record import file_digest

log = logging.getLogger(__name__)

METRIC = "auroc"
LINE, SPLINES, RANDOM = "lr", "spline_lr", "cells_lr"
CLUSTERED = (f"{KM}_lr", f"{CAC}_lr")
# Three tests; the highest mean on the validation rows; the simplest model within a standard error
# of it; and, for what it costs to look at one split alone, the best of each resample by itself.
RULES = THREE_TESTS, HIGHEST, ONE_ERROR, EACH = (
    *("three tests", "highest", "one standard error", "each resample"),
)
Records = Mapping[str, TrialRecord]
Scores = Mapping[str, Array]  # of a contender, one a resample
StrPath = str | os.PathLike[str]


def run_cell(
    features: StrPath,
    path: StrPath,
    *,
    dataset: str,
    rows: int,
    strengths: Sequence[float],
    draws: int,
    effort: Effort,
) -> None:
    """Run clinics of one size from a table, and write the choice of each rule.

    The JSON has ``planted`` (the `worth` of each strength, and its columns) and ``cohorts``: a row
    per strength, draw and rule, as in `rule_choices`.
    """
    made = start_clock()
    base = ground(read_rows(features), dataset)
    planted, cohorts = [], []
    for strength in strengths:
        line, splines = worth(base, strength)
        planted.append({"strength": strength, "worth": line, "worth_over_splines": splines})
        for draw in range(draws):
            cohort = draw_cohort(base, strength, rows, draw)
            head = {"strength": strength, "draw": draw, "events": int(cohort.clinic.label.sum())}
            cohorts += [{**head, **row} for row in judge_cohort(cohort, effort)]
            log.info("%s, %d rows, strength %g: draw %d", dataset, rows, strength, draw)
    content = {
        **{"dataset": dataset, "rows": rows, "unseen": len(cohort.unseen.label)},
        **{"columns": base.columns, "subgroup": float(base.subgroup.mean())},
        **{"planted": planted, "cohorts": cohorts, "effort": effort._asdict()},
        "inputs": {"features": file_digest(features)},
    }
    write_json(path, {**content, "machine": made()})


def judge_cohort(cohort: Cohort, effort: Effort) -> list[dict[str, Any]]:
    """Fit the contenders on a clinic and return the `rule_choices`.

    Splines and random groups are fitted only where a kind of clusters is better than the learner,
    since the three tests fail otherwise.
    """
    records, unseen = _fitted(cohort, (LINE, *CLUSTERED), effort)
    decided = _better(records, [HELP])
    if decided:
        records = {**records, **_fitted(cohort, (SPLINES, RANDOM), effort)[0]}
        decided = _better(records, [HELP, ANY, BENT])
    return list(rule_choices(records, unseen, decided))


def _fitted(
    cohort: Cohort, names: Sequence[str], effort: Effort
) -> tuple[dict[str, TrialRecord], dict[str, Array]]:
    """Return trial records on resamples of a clinic, and AUROC on unseen rows, by contender.

    The AUROC of a resample on unseen rows is that of its trial with the best validation AUROC.
    """
    values = {name: effort.values_of(parse_contender(name)) for name in names}
    records: dict[str, list[TrialRecord]] = {name: [] for name in names}
    unseen: dict[str, list[float]] = {name: [] for name in names}
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for sample in study_resamples(cohort.clinic, effort):
            rows = _scaled_like(sample, cohort.unseen)
            for name, trials in values.items():
                record, score = _run_resample(sample, parse_contender(name), trials, rows)
                records[name].append(record)
                unseen[name].append(score)
    joined = {name: join_resamples(parts) for name, parts in records.items()}
    return joined, {name: np.array(scores) for name, scores in unseen.items()}


def _run_resample(
    sample: Resample, contender: Contender, trials: list[Values], unseen: Rows
) -> tuple[TrialRecord, float]:
    """Return a contender's trials with AUROC only, and the chosen trial's AUROC on unseen rows.

    In `deepcac.judging.trials.run_resample`, other scores take two thirds of the time.
    """
    models = [fit_trial(contender, values, sample) for values in trials]
    scores = np.full((1, len(trials), len(PARTS), len(METRICS)), np.nan)
    parts = sample.validation, sample.test
    for t, predict in enumerate(models):
        scores[0, t, :, METRICS.index(METRIC)] = [auroc(rows.y, predict(rows)) for rows in parts]
    sizes = dict(zip(SIZES, map(len, (sample.train, *parts)), strict=True))
    record = TrialRecord(
        contender.id, contender.arm, contender.learner, trials,
        [sample.seed], [sizes], scores, np.zeros((1, len(trials))),
    )  # fmt: skip
    best = int(record.score(VALIDATION, METRIC)[0].argmax())
    return record, auroc(unseen.y, models[best](unseen))


def auroc(y: Ids, probability: Array) -> float:
    """Return the AUROC of probabilities (n, 2) by ranks, many times faster than scikit-learn."""
    rank, events = stats.rankdata(probability[:, 1]), y == 1
    n = int(events.sum())
    return float((rank[events].sum() - n * (n + 1) / 2) / (n * (len(y) - n)))


def _scaled_like(sample: Resample, features: FeatureMatrix) -> Rows:
    scaled = TableScaler().fit(sample.train.raw).transform(features.X)
    return Rows(features.X, scaled, features.label, features.row_id)


def _better(records: Records, questions: Sequence[Question]) -> list[str]:
    """Return the kinds of clusters that are better in all questions, corrected over both kinds."""
    scores = resample_scores({"": records}, [METRIC])
    table = verdicts(scores, MARGIN, STRICT, questions, metrics=[METRIC])
    passed = (table["verdict"] == BETTER).groupby(table["contender"]).all()
    return [name for name in CLUSTERED if passed[name]]


def rule_choices(
    records: Records, unseen: Scores, passed: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the choice of each rule: a row has ``rule``, ``model``, ``taken``, ``gain``, ``line``.

    `passed` are the kinds of clusters that passed all three tests. ``taken`` is whether clusters
    are adopted, or in which share of the resamples. ``line`` is the mean AUROC on unseen rows of
    logistic regression without clusters, and ``gain`` that of the chosen model minus this.
    """
    names = [LINE, *CLUSTERED]
    validation = {name: records[name].score(VALIDATION, METRIC).max(axis=1) for name in names}
    share = records[LINE].test_share
    gains = {name: unseen[name] - unseen[LINE] for name in names}
    best = np.stack([validation[name] for name in names]).argmax(axis=0)

    def highest(among: Sequence[str]) -> str:
        return max(among, key=lambda name: float(validation[name].mean()))

    tested = highest(passed) if passed else LINE  # in a resample it may decline clusters
    declined = validation[LINE] > validation[tested]
    within = simplest([validation[name] for name in names], share / (1 - share))
    chosen = {
        THREE_TESTS: (tested, np.where(declined, 0.0, gains[tested])),
        HIGHEST: (highest(names), gains[highest(names)]),
        ONE_ERROR: (names[within], gains[names[within]]),
        EACH: ("", np.choose(best, [gains[name] for name in names])),
    }
    for rule, (model, gain) in chosen.items():
        taken = float(np.mean(best > 0)) if rule == EACH else float(model != LINE)
        row = {"rule": rule, "model": model, "taken": taken, "gain": float(gain.mean())}
        yield {**row, "line": float(unseen[LINE].mean())}


def write_by_size(csv_path: StrPath, cell_paths: Iterable[StrPath]) -> None:
    """Write the rows of all cells as CSV, one per table, size, strength, draw and rule."""
    cells = pd.concat(map(cell_table, map(read_json, cell_paths)))
    order = ["dataset", "rows", "strength", "draw"]
    write_frame(csv_path, cells.sort_values(order, kind="stable"), 5)


def cell_table(content: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of a cell, with the worth of the planted subgroup."""
    planted = pd.DataFrame(content["planted"])
    table = pd.DataFrame(content["cohorts"]).merge(planted, on="strength")
    table.insert(0, "dataset", content["dataset"])
    table.insert(1, "rows", content["rows"])
    return table


def main() -> None:
    """Write the table of cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", nargs="+")
    parser.add_argument("table")
    asked = parser.parse_args()
    write_by_size(asked.table, asked.cells)


if __name__ == "__main__":
    with one_line_errors():
        main()
