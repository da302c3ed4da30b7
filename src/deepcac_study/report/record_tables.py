"""Tables computed from the shipped records by group-bys, without rows of patients.

python -m deepcac_study.report.record_tables study

makes the report of the shipped records, writes all tables to ``study/results/tables``, and renews
the files of the same names in docs/results, and the pages that quote them.
"""

import argparse
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from deepcac.errors import one_line_errors
from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json, write_json
from deepcac.judging.resample_scores import mean_scores, resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.pages.figures import as_svg
from deepcac.scoring.margins import MARGIN
from deepcac.scoring.statistics import corrected_t_test
from deepcac_study.catalogue.judge_plan import Judge, read_judge
from deepcac_study.judge import clinical_tasks
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.judge.power_curve import on_cohorts, power_curve
from deepcac_study.judge.primary import primary_comparisons
from deepcac_study.judge.study_files import PLANTED, TABLES
from deepcac_study.judge.tables.helping import candidate_rules, planted_points, table_points
from deepcac_study.judge.tables.over_tables import (
    mean_risks,
    over_tables,
    read_tables,
    table_means,
    table_risks,
    table_scores,
    table_verdicts,
)
from deepcac_study.judge.trial_risks import chosen_risks
from deepcac_study.records.reader import JUDGED, RUNS, by_kind
from deepcac_study.records.runs import load
from deepcac_study.records.sweep_tables import load_sweeps
from deepcac_study.report.judge.clinical_forest import LEARNERS, load_clinical
from deepcac_study.report.judge.gain_figures import helping_figure, size_figure
from deepcac_study.report.judge.judgement import overall_answer
from deepcac_study.report.page_tables import renew_pages
from deepcac_study.report.site.firstpage import count_origins
from deepcac_study.report.site.material import real_only
from deepcac_study.report.site.shipped import (
    PROJECT,
    measured_files,
    report_shipped,
    shipped_records,
)

_RUN = ("protocol", "dataset", "method", "k", "status")
_METRICS = ("f1", "f1_macro", "auroc", "auroc_macro", "auprc", "auprc_macro")
# Losses differ by little, and on tables that are solved everything does.
_DECIMALS = {"judge_table_verdicts": 8}
_SWEPT = ("auroc", "auprc")
_NOT_MEASURED = ("seed", "term", "alpha", "status")
# What the report and the judge write, below ``results``.
_WRITTEN = {
    **{f"{name}.csv": f"report/{name}.csv" for name in ("ledger", "claims", "summary")},
    **{
        f"{name}.csv": f"report/tables/{name}.csv"
        for name in ("clustering_f1", "clustering_auroc", "clustering_auprc")
    },
    "judge_verdicts.csv": "judge/verdicts.csv",
    **{f"clinical_{name}.csv": f"judge/clinical/{name}.csv" for name in clinical_tasks.TABLES},
    **{
        f"{name}.svg": f"report/figures/{name}.svg"
        for name in ("judge_forest", "clinical_price", *map("clinical_forest_{}".format, LEARNERS))
    },
}
StrPath = str | os.PathLike[str]


def record_tables(paths: Iterable[StrPath], plan: Judge) -> dict[str, pd.DataFrame]:
    """Return the tables of the shipped records and sweeps, by name.

    Verdicts are read from the files that the judge writes, also for the clinical tasks.
    """
    files = by_kind(paths)
    tables = {"runs": run_means(files[RUNS])}
    return tables | _judge_tables(files, plan) | sweep_tables(files["sweeps"])


def run_means(paths: Iterable[Path]) -> pd.DataFrame:
    """Return mean and standard deviation over the splits of each run on the papers' data.

    The deviation of a single split is 0; metrics that some split lacks are empty.
    """
    rows = []
    for run in real_only(load(paths, os.curdir)):
        row = {name: getattr(run, name) for name in _RUN} | {"splits": len(run.splits)}
        for metric in _METRICS:
            row[metric], row[f"{metric}_sd"] = run.score(metric) or (None, None)
        rows.append(row)
    return pd.DataFrame(rows)


def _judge_tables(files: Mapping[str, list[Path]], plan: Judge) -> dict[str, pd.DataFrame]:
    """Return the tables of our study, by name."""
    records, tables = read_records(files[JUDGED]), read_tables(files[TABLES])
    planted = [read_json(path) for path in files[PLANTED]]
    resamples, scores = resample_scores(records), table_scores(tables)
    compared = verdicts(resamples, plan.margin, plan.strict_margin)
    of_tables = table_verdicts(scores)
    # A data set that was run both ways counts once, as the table with all contenders.
    older = resamples[~resamples["dataset"].isin(scores["dataset"])]
    points = table_points(pd.concat([older, scores], ignore_index=True))
    return {
        "judge_resamples": resamples,
        "judge_scores": mean_scores(resamples),
        "judge_primary": primary_comparisons(records),
        "judge_risks": mean_risks(chosen_risks(records)),
        "judge_planted": pd.DataFrame(power_curve(planted)),
        "judge_tables": table_means(tables, scores),
        "judge_table_verdicts": of_tables,
        "judge_table_risks": table_risks(tables),
        "judge_over_tables": over_tables(compared, of_tables),
        "judge_helping": pd.concat([points, planted_points(on_cohorts(planted))]),
        "judge_rules": candidate_rules(points).replace(np.inf, np.nan),  # no threshold: never
    }


def sweep_tables(paths: Iterable[Path]) -> dict[str, pd.DataFrame]:
    """Return the tables of sweeps that pages quote: separation terms, and switches by start."""
    sweeps = load_sweeps(paths)
    starts = [row for at, table in sweeps.of("starts").items() for row in start_effects(table, *at)]
    return {
        "separation": pd.concat(
            [_terms(table, *at) for at, table in sweeps.of("separation").items()]
        ),
        "switch_starts": pd.DataFrame(starts),
    }


def _terms(table: pd.DataFrame, dataset: str, k: int) -> pd.DataFrame:
    """Return mean and deviation over the splits of the measurements with each term."""
    groups = table.groupby(["term", "alpha"], sort=False)
    measured = [name for name in table.columns if name not in _NOT_MEASURED]
    mean, spread = groups[measured].mean(), groups[measured].std()
    rows = pd.concat([mean, spread.add_suffix("_sd")], axis=1).reset_index()
    rows.insert(2, "trainings", groups.size().to_numpy())
    rows.insert(3, "below_zero", groups["loss"].agg(lambda loss: (loss < 0).sum()).to_numpy())
    rows.insert(0, "k", k)
    rows.insert(0, "dataset", dataset)
    return rows


def start_effects(table: pd.DataFrame, dataset: str, k: int) -> Iterator[dict[str, Any]]:
    """Yield the effect of each switch, paired by split and start of the autoencoder.

    There is a row per method, switch and metric. ``mean`` and ``start_sd`` are those of the score
    for the sound method, else of the difference from the sound method on the same split and start.
    ``start_sd`` is the deviation between starts of one split; ``low`` and ``high`` are the interval
    of the mean over splits (corrected resampled t-test on the means over starts).
    """
    scores = table.set_index(["method", "switch", "split", "start"])[list(_SWEPT)]
    sizes = {name: float(table[name].mean()) for name in ("n_train", "n_test")}
    for (method, switch), group in scores.groupby(["method", "switch"], sort=False):
        less = group.droplevel([0, 1])
        if switch:
            less = less - scores.xs((method, ""), level=("method", "switch"))
        for metric in _SWEPT:
            by_split = less[metric].dropna().groupby("split")
            test = corrected_t_test(by_split.mean().to_numpy(), **sizes)
            yield {
                "dataset": dataset,
                "method": method,
                "k": k,
                "switch": switch or "sound",
                "metric": metric,
                "splits": by_split.ngroups,
                "starts": int(by_split.size().max()),
                "mean": test.mean,
                "low": test.low if switch else None,
                "high": test.high if switch else None,
                "start_sd": float(by_split.var().mean() ** 0.5),
            }


def write_tables(results: Path, project: Path = PROJECT) -> Path:
    """Write every table to ``results/tables``, including those of `report_shipped`; return it."""
    folder = results / "tables"
    plan = read_judge(project / "config" / "config.yaml")
    shipped = [*shipped_records(results, project), *measured_files(results, project)]
    tables = record_tables(shipped, plan)
    archive = project / "docs" / "results"
    clinical = load_clinical((results / "judge" / "clinical").glob("*.csv"), archive)
    tables["headline"] = overall_answer(pd.read_csv(results / "judge" / "verdicts.csv"), clinical)
    for name, table in tables.items():
        write_frame(folder / f"{name}.csv", table, _DECIMALS.get(name, 5))
    for name, path in _WRITTEN.items():
        shutil.copyfile(results / path, folder / name)
    by_rule = tables["judge_rules"].set_index(["way", "statistic"])["threshold"].fillna(np.inf)
    helping = helping_figure(tables["judge_helping"], MARGIN, by_rule["tables", "advantage"])
    by_size = size_figure(pd.read_csv(archive / "by_size.csv"))
    for figure in (helping, by_size):
        (folder / f"{figure.id}.svg").write_text(as_svg(figure), encoding="utf-8")
    return folder


def about(paths: Iterable[StrPath]) -> dict[str, list[str]]:
    """Return the commits, Pythons, devices, processors and libraries that made records."""
    counts = count_origins(read_json(path)["machine"] for path in paths)
    return {name: sorted(count) for name, count in counts.items()}


def main() -> None:
    """Renew the shipped tables, and the pages that quote them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    report_shipped(asked.folder, threads=asked.threads)
    results, archive = asked.folder / "results", PROJECT / "docs" / "results"
    for path in write_tables(results).iterdir():
        if (archive / path.name).exists():
            shutil.copyfile(path, archive / path.name)
    write_json(archive / "about.json", about(shipped_records(results)))
    renew_pages(PROJECT)


if __name__ == "__main__":
    with one_line_errors():
        main()
