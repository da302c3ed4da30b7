"""What finished files say, as a few small tables that may be kept: no row of a patient.

python -m deepcac_study.report.kept.snapshot results docs/results
"""

import argparse
import os
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from deepcac.errors import one_line_errors
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import frame_text
from deepcac.files.declared import checked
from deepcac.files.storage import read_json, write_json
from deepcac.judging.resample_scores import mean_scores, resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac_study.catalogue.judge_plan import Judge
from deepcac_study.catalogue.record_kinds import JUDGE_FOLDERS
from deepcac_study.judge import clinical_tasks
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.power_curve import power_curve
from deepcac_study.judge.primary import primary_comparisons
from deepcac_study.judge.study_files import CLINICAL, FOLDER, PLANTED
from deepcac_study.judge.tables.over_tables import mean_risks
from deepcac_study.judge.trial_risks import chosen_risks
from deepcac_study.report.judge.clinical_forest import LEARNERS, clinical_forest, clinical_name
from deepcac_study.report.judge.judge_figures import verdict_forest
from deepcac_study.report.judge.judgement import headline
from deepcac_study.report.judge.overall_answer import overall_answer
from deepcac_study.report.kept import table_snapshot
from deepcac_study.report.kept.run_snapshot import (
    QUOTED,
    REPORT,
    RUNS,
    SPLITS,
    curve_tables,
    open_records,
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

RESAMPLES, SCORES, VERDICTS = "judge_resamples", "judge_scores", "judge_verdicts"
POWER = "judge_planted"
RISKS = "judge_risks"
PRIMARY, ANSWERED = "judge_primary", "headline"
OF_CLINICAL = tuple(map(clinical_name, clinical_tasks.TABLES))
MEASURED = "measured"  # the folder of what decides claims and is no record of a run
# Losses differ by little, and on tables that are solved everything does.
_DECIMALS = {table_snapshot.VERDICTS: 8}
_ORIGIN = ("commits", "pythons", "devices", "processors", "libraries")
Content = dict[str, Any]
TABLES = (
    *(
        RESAMPLES,
        RISKS,
        SCORES,
        VERDICTS,
        PRIMARY,
        ANSWERED,
        POWER,
    ),
    *OF_CLINICAL,
    *(SPLITS, RUNS, SEPARATION, STARTS, *table_snapshot.KEPT),
    *(*REPORT, *QUOTED, CURVES, CALIBRATION),
)


def write_snapshot(
    results: str | os.PathLike[str], folder: str | os.PathLike[str], judge: Judge
) -> list[Path]:
    """Write a CSV of each kind of finished file; what has not run at all here leaves its CSV alone.

    Left out are generated data sets, but for the planted cohorts, and those that are restricted or
    that the registry does not know. The tables of the report (ledger,
    claims and what pages quote) are those of the last one that was made. Where a part has run, its
    table is of the records here alone: lay those that ship beside them first.

    Parameters
    ----------
    results, folder : path-like
        Folder ``results`` of a run, finished or not; that of the CSVs.
    judge : Judge
        The judge's part of the configuration of that run (`read_judge`).
    """
    run, place = Path(results), Path(folder)
    splits = split_table(run)
    tables = {**_judged(run), **sweep_tables(run)}
    tables |= {SPLITS: splits, RUNS: run_table(splits)}
    tables[SCORES] = mean_scores(tables[RESAMPLES])
    tables[VERDICTS] = verdicts(tables[RESAMPLES], judge.margin, judge.strict_margin)
    tables[ANSWERED] = overall_answer(tables[VERDICTS])
    _draw_answer(tables[VERDICTS], place)
    tables |= _clinical(run, judge, place)
    tables |= table_snapshot.kept_tables(run, tables[RESAMPLES], tables[VERDICTS])
    table_snapshot.draw_helping(tables, place)
    texts = {name: _csv(table, _DECIMALS.get(name, 5)) for name, table in tables.items()}
    texts |= {name: report_table(run, name) for name in (*REPORT, *QUOTED)}
    texts |= {name: _csv(table) for name, table in curve_tables(run).items()}
    return [
        *(_write(place / f"{name}.csv", text) for name, text in texts.items() if text),
        *write_measured(run, place / MEASURED),
    ]


def _judged(results: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of the study, but those that follow from others."""
    study = Path(FOLDER).name
    judged = open_records(results, f"{study}/*/*.json")
    records = read_records(path for path in judged if path.parent.name not in JUDGE_FOLDERS)
    planted = [path for path in judged if path.parent.name == PLANTED]
    return {
        RESAMPLES: resample_scores(records),
        PRIMARY: primary_comparisons(records),
        POWER: pd.DataFrame(power_curve([read_json(path) for path in planted])),
        RISKS: mean_risks(chosen_risks(records)),
    }


def _clinical(results: Path, judge: Judge, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of the clinical tasks that have finished, and draw what they say."""
    records = read_records(open_records(results, f"{Path(FOLDER).name}/{CLINICAL}/*/*.json"))
    tables = clinical_tasks.clinical_tables(records, judge.clinical, judge.strict_margin)
    if tables[clinical_tasks.VERDICTS].empty:
        return {}
    shown = (tables[clinical_tasks.VERDICTS], tables[clinical_tasks.POOLED])
    for learner in LEARNERS:
        figure = clinical_forest(*shown, learner)
        if figure:
            table_snapshot.write_picture(figure, folder)
    return {clinical_name(name): table for name, table in tables.items()}


def _draw_answer(table: pd.DataFrame, folder: Path) -> None:
    """Draw what clusters add to each learner, as the first page of the report does."""
    rows = table if table.empty else headline(table)
    if len(rows):
        figure = verdict_forest(rows, float(rows["margin"].iloc[0]))
        table_snapshot.write_picture(figure, folder)


def _csv(table: pd.DataFrame, digits: int = 5) -> str:
    return frame_text(table, digits) if len(table) else ""


def _write(path: Path, text: str) -> Path:
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return path


def about(results: str | os.PathLike[str]) -> Content:
    """Return where a snapshot comes from.

    It is the commit of the code beside the results, the date, and the sorted commits, Pythons,
    devices, processors and libraries of the records that say with what they were made.
    """
    origins: dict[str, set[str]] = {name: set() for name in _ORIGIN}
    for path in sorted(Path(results).rglob("*.json")):
        made = read_json(path).get("machine", {})
        libraries = [f"{name} {version}" for name, version in made.get("versions", {}).items()]
        commit, *one_each = (
            made.get(name) for name in ("git_commit", "python", "device", "processor")
        )
        parts = ([commit[:7]] if commit else [], *([value] for value in one_each), libraries)
        for name, values in zip(_ORIGIN, parts, strict=True):
            origins[name].update(value for value in values if value)
    asked = ["git", "-C", os.fspath(results), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    origin = {name: sorted(values) for name, values in origins.items()}
    return {"commit": commit, "date": date.today().isoformat(), **origin}


def read_judge(path: str | os.PathLike[str]) -> Judge:
    """Return the judge's part of a configuration file."""
    content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return checked(Judge, content.get("judge", {}), f"{path}: judge")


def main() -> None:
    """Write the tables of a folder of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("folder")
    parser.add_argument("--config", default="config/config.yaml", help="of the run")
    asked = parser.parse_args()
    for path in write_snapshot(asked.results, asked.folder, read_judge(asked.config)):
        print(path)
    write_json(Path(asked.folder) / "about.json", about(asked.results))


if __name__ == "__main__":
    with one_line_errors():
        main()
