"""The runs of the papers' methods as small tables that may be kept: no row of a patient."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.catalogue.run_paths import runs_among
from deepcac.experiments.finished import Run, load
from deepcac.papers.names import known_datasets, restricted

RUNS = "runs"
LEDGER, CLAIMS, SUMMARY = REPORT = ("ledger", "claims", "summary")
ANSWER = "clustering_answer"
# Of the report's tables those that pages quote, and each comparison behind the counted ones.
QUOTED = (ANSWER, "clustering_f1", "clustering_auroc", "clustering_auprc", "switches", "k_choice")
METRICS = ("f1", "f1_macro", "auroc", "auroc_macro", "auprc", "auprc_macro")


def run_table(results: Path) -> pd.DataFrame:
    """Return mean and standard deviation over the splits of each finished run.

    Parameters
    ----------
    results : Path
        Folder ``results`` of a run of the workflow.

    Returns
    -------
    DataFrame
        A row a run, by protocol, data set, method and k. Generated, restricted and own data have
        none.
    """
    runs = load(_records(results), results.parent)
    shown = known_datasets() - set(restricted())
    return pd.DataFrame([_row(run) for run in runs if run.dataset in shown and not run.synthetic])


def _records(results: Path) -> Iterator[Path]:
    for path in results.rglob("*_k*.json"):
        place = f"results/{path.relative_to(results).as_posix()}"
        if any(runs_among([place])):
            yield path


def _row(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {
        "protocol": run.protocol,
        "dataset": run.dataset,
        "method": run.method,
        "k": run.k,
        "status": run.status,
        "splits": len(run.splits),
    }
    for metric in METRICS:
        row[metric], row[f"{metric}_sd"] = run.score(metric) or (None, None)
    return row


def report_table(results: Path, name: str) -> str:
    """Return one of the report's own tables as it is, empty where no report was made."""
    folder = results / "report" if name in REPORT else results / "report" / "tables"
    path = folder / f"{name}.csv"
    return path.read_text(encoding="utf-8") if path.exists() else ""
