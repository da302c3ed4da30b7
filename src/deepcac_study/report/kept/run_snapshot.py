"""The runs of the papers' methods as small tables that may be kept: no row of a patient."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.files.storage import read_json
from deepcac_study.catalogue.registry import load_registry, registry_folder
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.papers.names import paper_datasets, restricted
from deepcac_study.records.record_archive import may_leave
from deepcac_study.records.runs import Run, load
from deepcac_study.report.runs.curves import BOOTSTRAPS, CALIBRATION, CURVES, curve_table

SPLITS, RUNS = "run_splits", "runs"
LEDGER, CLAIMS, SUMMARY = REPORT = ("ledger", "claims", "summary")
RUN = ["protocol", "dataset", "method", "k"]  # what names a run
ANSWER = "clustering_answer"
_DATASET = "data set"  # a column of the report's tables
# Of the report's tables those that pages quote, and each comparison behind the counted ones.
QUOTED = (
    *(ANSWER, "clustering_f1", "clustering_auroc", "clustering_auprc", "switches", "k_choice"),
    BOOTSTRAPS,
)
METRICS = ("f1", "f1_macro", "auroc", "auroc_macro", "auprc", "auprc_macro")


def may_be_kept() -> frozenset[str]:
    """Return the data sets of the papers that are open; what is generated is none of them."""
    return paper_datasets() - restricted().keys()


def open_records(results: Path, pattern: str) -> list[Path]:
    """Return the records of a folder ``results`` that anybody may see, in order of their paths."""
    registry = load_registry(registry_folder(results.parent), private=False)
    records = (
        (path, path.relative_to(results).as_posix()) for path in sorted(results.glob(pattern))
    )
    return [path for path, name in records if may_leave(registry, name, read_json(path))]


def split_table(results: Path) -> pd.DataFrame:
    """Return the scores of each finished run of a folder ``results``, a row a split.

    A run without scores has one row. Generated, restricted and own data have none.
    """
    runs = load(_records(results), results.parent)
    public_runs = [run for run in runs if run.dataset in may_be_kept() and not run.synthetic]
    rows = [row for run in public_runs for row in _rows(run)]
    return pd.DataFrame(rows, columns=[*RUN, "status", "split", *METRICS])


def run_table(splits: pd.DataFrame) -> pd.DataFrame:
    """Return mean and standard deviation over the splits (`split_table`), a row a run.

    The deviation of a single split is 0; there is nothing where a split has no score.
    """
    if splits.empty:
        return splits
    groups = splits.groupby(RUN, sort=False)
    table = groups.agg(status=("status", "first"), splits=("split", "count"))
    for metric in METRICS:
        whole = groups[metric].count() == groups.size()
        table[metric] = groups[metric].mean().where(whole)
        table[f"{metric}_sd"] = groups[metric].std().fillna(0.0).where(whole)
    return table.reset_index()


def _records(results: Path) -> Iterator[Path]:
    for path in results.rglob("*_k*.json"):
        place = f"results/{path.relative_to(results).as_posix()}"
        if any(runs_among([place])):
            yield path


def _rows(run: Run) -> Iterator[dict[str, Any]]:
    about = {name: getattr(run, name) for name in (*RUN, "status")}
    scores = {metric: run.per_split(metric) for metric in METRICS}
    for j in range(len(run.splits)):
        yield {**about, "split": j, **{metric: values[j] for metric, values in scores.items()}}
    if not run.splits:
        yield about


def curve_tables(results: Path) -> dict[str, pd.DataFrame]:
    """Return the curves and the calibration of runs on open data that the report shows."""
    figures = results / "report" / "figures"
    return {name: curve_table(figures, name, may_be_kept()) for name in (CURVES, CALIBRATION)}


def report_table(results: Path, name: str) -> str:
    """Return one of the report's own tables, empty where no report was made.

    Rows of a data set that may not be kept are left out.
    """
    folder = results / "report" if name in REPORT else results / "report" / "tables"
    path = folder / f"{name}.csv"
    if not path.exists():
        return ""
    text = path.read_text(encoding="utf-8")
    header, *rows = csv.reader(io.StringIO(text))
    if _DATASET not in header:
        return text
    place, open_sets = header.index(_DATASET), may_be_kept() | {""}
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([header, *(row for row in rows if row[place] in open_sets)])
    return table.getvalue()
