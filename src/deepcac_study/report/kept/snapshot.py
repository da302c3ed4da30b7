"""What finished files say, as a few small tables that may be kept: no row of a patient.

python -m deepcac_study.report.kept.snapshot results docs/results [--extend]
"""

import argparse
import os
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deepcac.files.atomic import atomic_path
from deepcac.files.storage import read_json, write_json
from deepcac.judging.resample_scores import METRICS, mean_scores, resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.pages.figures import as_svg
from deepcac_study.catalogue.judge_plan import Judge
from deepcac_study.judge.blends import blend_rows
from deepcac_study.judge.division_scores import EVENT, decide_pairs
from deepcac_study.judge.further.further_verdicts import decided
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.power import power_curve
from deepcac_study.judge.study_files import ABLATIONS, APART, FOLDER, PLANTED, PUBLIC
from deepcac_study.judge.tables.over_tables import mean_risks
from deepcac_study.judge.trial_risks import chosen_risks
from deepcac_study.papers.kept_report import REPORT, covers
from deepcac_study.report.judge.judge_figures import verdict_forest
from deepcac_study.report.judge.judgement import headline
from deepcac_study.report.judge.published_divisions import Divided, divided
from deepcac_study.report.kept import table_snapshot
from deepcac_study.report.kept.further_docs import ROWS as FURTHER_ROWS
from deepcac_study.report.kept.further_docs import further_rows
from deepcac_study.report.kept.run_snapshot import (
    QUOTED,
    RUN,
    RUNS,
    SPLITS,
    curve_tables,
    report_table,
    run_table,
    split_table,
)
from deepcac_study.report.kept.sweep_snapshot import (
    SEPARATION,
    STARTS,
    sweep_tables,
    write_measured,
)
from deepcac_study.report.runs.curves import CALIBRATION, CURVES
from deepcac_study.report.subtypes.subtype_worth import ahead, load_ablations

RESAMPLES, SCORES, VERDICTS = "judge_resamples", "judge_scores", "judge_verdicts"
POWER, DIVISIONS, PAIRS = "judge_planted", "judge_divisions", "judge_division_pairs"
ARMS, STABILITY, BLENDS = "subtype_arms", "subtype_stability", "judge_blends"
RISKS = "judge_risks"
MEASURED = "measured"  # the folder of what decides claims and is no record of a run
# Which rows go together; means and verdicts of the judge follow from these tables.
ROWS = {
    **{name: ["dataset", "contender"] for name in (RESAMPLES, RISKS)},
    POWER: ["rows", "strength", "question", "contender", "reference"],
    **{name: ["division"] for name in (DIVISIONS, PAIRS)},
    **{name: ["dataset"] for name in (ARMS, STABILITY, BLENDS)},
    **dict.fromkeys((SPLITS, RUNS), RUN),
    **{name: ["dataset", "k"] for name in (SEPARATION, STARTS)},
    **FURTHER_ROWS,
}
# Losses differ by little, and on tables that are solved everything does.
_DECIMALS = {**dict.fromkeys(FURTHER_ROWS, 6), table_snapshot.VERDICTS: 8}
_ORIGIN = ("commits", "pythons", "devices", "processors", "libraries")
Content = dict[str, Any]
TABLES = (*ROWS, SCORES, VERDICTS, *table_snapshot.KEPT, *REPORT, *QUOTED, CURVES, CALIBRATION)


def write_snapshot(
    results: str | os.PathLike[str], folder: str | os.PathLike[str], *, extend: bool = False
) -> list[Path]:
    """Write a CSV of each kind of finished file; a part that has not run has no rows.

    Generated data sets are left out, but for the planted cohorts. The tables of the report (ledger,
    claims and what pages quote) are those of the last one that was made.

    Parameters
    ----------
    results, folder : path-like
        Folder ``results`` of a run, finished or not; that of the CSVs, which are written anew.
    extend : bool
        Whether rows of what has not run here stay as they were, so that a study may be run in
        parts in several places. Means and verdicts are those of all rows together. The tables
        of a report that lacks runs of the older one stay too.
    """
    run, place = Path(results), Path(folder)
    splits = split_table(run)
    tables = {**_judged(run), **further_rows(run), **sweep_tables(run)}
    tables |= {SPLITS: splits, RUNS: run_table(splits)}
    if extend:
        tables = {name: _with_older(place, name, table) for name, table in tables.items()}
    judge = Judge.model_validate({})
    if len(tables[PAIRS]):
        tables[PAIRS] = decide_pairs(tables[PAIRS])
    tables |= {name: decided(tables[name]) for name in FURTHER_ROWS}
    tables[SCORES] = mean_scores(tables[RESAMPLES])
    tables[VERDICTS] = verdicts(tables[RESAMPLES], judge.margin, judge.strict_margin)
    draw_answer(tables[VERDICTS], place)
    tables |= table_snapshot.kept_tables(
        run, *(tables[name] for name in (RESAMPLES, VERDICTS, POWER))
    )
    table_snapshot.draw_helping(tables, place)
    texts = {name: _csv(table, _DECIMALS.get(name, 5)) for name, table in tables.items()}
    if not extend or covers(run / "report", place):
        texts |= {name: report_table(run, name) for name in (*REPORT, *QUOTED)}
        texts |= {name: _csv(table) for name, table in curve_tables(run).items()}
    kept = [name for name, text in texts.items() if text or not extend]
    return [
        *(_write(place / f"{name}.csv", texts[name]) for name in kept),
        *write_measured(run, place / MEASURED),
    ]


def _with_older(folder: Path, name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the rows of its last state that it has nothing newer for."""
    path, keys = folder / f"{name}.csv", ROWS[name]
    if not path.exists() or not path.stat().st_size:
        return table
    older = pd.read_csv(path)
    if table.empty:
        return older
    stale = pd.MultiIndex.from_frame(older[keys]).isin(pd.MultiIndex.from_frame(table[keys]))
    both = pd.concat([older[~stale], table], ignore_index=True)
    return both.sort_values(keys, kind="stable", ignore_index=True)


def _judged(results: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of the study, but those that follow from others."""
    study = results / Path(FOLDER).name
    trials = [path for path in sorted(study.glob("*/*.json")) if path.parent.name not in APART]
    records = {
        dataset: found
        for dataset, found in read_records(trials).items()
        if not any(record["synthetic"] for record in found.values())
    }
    planted = [read_json(path) for path in sorted((study / PLANTED).glob("*.json"))]
    arms, stability = _ablations(sorted((study / ABLATIONS).glob("*.json")))
    scored = {one.stem: read_json(one) for one in sorted((study / PUBLIC).glob("*.json"))}
    pairs = [{"division": name, **row} for name, one in scored.items() for row in one["pairs"]]
    return {
        RESAMPLES: resample_scores(records),
        POWER: pd.DataFrame(power_curve(planted)),
        DIVISIONS: pd.DataFrame([_division(one) for one in divided(scored.items())]),
        ARMS: arms,
        STABILITY: stability,
        BLENDS: pd.DataFrame(blend_rows(records, study)),
        RISKS: mean_risks(chosen_risks(records)),
        PAIRS: pd.DataFrame(pairs),
    }


def draw_answer(table: pd.DataFrame, folder: Path) -> None:
    """Draw what clusters add to each learner, as the first page of the report does."""
    if not table.empty:
        rows = headline(table)
        if len(rows):
            figure = verdict_forest(rows, Judge.model_validate({}).margin)
            (folder / f"{figure.id}.svg").write_text(as_svg(figure), encoding="utf-8")


def _csv(table: pd.DataFrame, digits: int = 5) -> str:
    return table.to_csv(index=False, float_format=f"%.{digits}f") if len(table) else ""


def _write(path: Path, text: str) -> Path:
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def _division(one: Divided) -> dict[str, Any]:
    events, n_test = one.counts
    row: dict[str, Any] = {"division": one.division, "task": one.task, "events": events}
    row |= {"n_test": n_test, "contender": one.contender}
    for metric in (*METRICS, EVENT):
        names = (metric, f"{metric}_low", f"{metric}_high")
        row |= dict(zip(names, one.score(metric), strict=True))
    return row


def _ablations(paths: list[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the means over resamples of every arm, and the stability of every method.

    ``mean``, ``low`` and ``high`` are how far three soft subtypes are ahead of an arm by AUROC.
    """
    arms, stability = [], []
    for one in load_ablations(paths):
        for backbone, table in one.arms.items():
            scores = table.drop(columns=["seed", "n_train", "n_test"])
            means = scores.groupby(["arm", "k"], as_index=False).mean()
            places = zip(means["arm"], means["k"], strict=True)
            paired = [ahead(one, backbone, *place) for place in places]
            for name in ("mean", "low", "high"):
                means[name] = [getattr(found, name, np.nan) for found in paired]
            means.insert(0, "backbone", backbone)
            means.insert(0, "dataset", one.dataset)
            arms.append(means)
        pairs = one.stability.groupby(["method", "k"])["ari"].agg(["mean", "min"]).reset_index()
        pairs.insert(0, "dataset", one.dataset)
        stability.append(pairs)
    if not arms:
        return pd.DataFrame(), pd.DataFrame()
    return pd.concat(arms), pd.concat(stability)


def about(results: str | os.PathLike[str], earlier: Mapping[str, Any] | None = None) -> Content:
    """Return where a snapshot, and the earlier one that it extends, come from.

    It is the commit of the code beside the results, the date, and the sorted commits, Pythons,
    devices, processors and libraries of the records that say with what they were made.
    """
    found = {name: set((earlier or {}).get(name, ())) for name in _ORIGIN}
    for path in sorted(Path(results).rglob("*.json")):
        made = read_json(path).get("machine", {})
        libraries = [f"{name} {version}" for name, version in made.get("versions", {}).items()]
        commit, *one_each = (
            made.get(name) for name in ("git_commit", "python", "device", "processor")
        )
        told = ([commit[:7]] if commit else [], *([value] for value in one_each), libraries)
        for name, values in zip(_ORIGIN, told, strict=True):
            found[name].update(value for value in values if value)
    asked = ["git", "-C", os.fspath(results), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    origin = {name: sorted(values) for name, values in found.items()}
    return {"commit": commit, "date": date.today().isoformat(), **origin}


def main() -> None:
    """Write the tables of a folder of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("folder")
    parser.add_argument("--extend", action="store_true", help="keep rows of what has not run here")
    asked = parser.parse_args()
    for path in write_snapshot(asked.results, asked.folder, extend=asked.extend):
        print(path)
    path = Path(asked.folder) / "about.json"
    earlier = read_json(path) if asked.extend and path.exists() else None
    write_json(path, about(asked.results, earlier))


if __name__ == "__main__":
    main()
