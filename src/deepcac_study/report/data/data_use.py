"""What each data set was used for, and its size as the records of finished work give it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from deepcac_study.judge.clinical_tasks import FINISHED
from deepcac_study.records.reader import Findings


@dataclass
class DataUse:
    """One data set in finished work."""

    purposes: list[str] = field(default_factory=list)  # the largest first
    rows: str = ""
    features: str = ""
    shares: str = ""  # of the classes
    missing: str = ""

    def size(self, record: Mapping[str, Any], features: str = "n_features") -> None:
        """Take over rows and features of a record, unless an earlier one gave them."""
        if not self.rows and record.get("n_rows"):
            self.rows = f"{int(record['n_rows']):,}"
            self.features = f"{int(record[features]):,} columns"


def data_use(
    findings: Findings,
    judged: Iterable[str] = (),
    tables: Iterable[Mapping[str, Any]] = (),
    tasks: pd.DataFrame | None = None,
) -> dict[str, DataUse]:
    """Return what was done with each data set.

    Parameters
    ----------
    findings : Findings
    judged : iterable of str
        Data sets with the judge's verdicts.
    tables : iterable of mapping
        Records of the tables that the judge judged in one job each.
    tasks : DataFrame, optional
        The clinical tasks (`deepcac_study.judge.clinical_tasks`), finished or not.
    """
    uses: dict[str, DataUse] = {}
    _of_runs(findings, uses)
    for record in findings.decompositions:
        use = _use(uses, record.record["dataset"], "class decomposition")
        use.size(record.record, "n_columns")
    for name in findings.clusterings.datasets():
        _use(uses, name, "supervised k-means")
    for name in dict.fromkeys(judged):
        _use(uses, name, "our study")
    for table in tables:
        _use(uses, table["dataset"], "our study").size(table)
    for row in [] if tasks is None else tasks[tasks["status"] == FINISHED].to_dict("records"):
        use = _use(uses, str(row["dataset"]), "a clinical task")
        use.rows = use.rows or f"{int(row['rows']):,}"
    return uses


def _of_runs(findings: Findings, uses: dict[str, DataUse]) -> None:
    """Count the runs of each data set; the corrected protocol's features give its size."""
    for name in dict.fromkeys(run.dataset for run in findings.runs):
        runs = findings.runs.where(dataset=name)
        many = f"{len(runs):,} runs of the papers' methods" if len(runs) > 1 else "1 run"
        use = _use(uses, name, many)
        for run in (*findings.runs.where(dataset=name, protocol="sound"), *runs)[:1]:
            use.size(run.record)
            use.shares = " : ".join(f"{100 * share:.1f} %" for share in run.class_shares)
            if (missing := run.record.get("missing")) is not None:
                use.missing = f"{100 * missing:.1f} %"


def _use(uses: dict[str, DataUse], name: str, purpose: str) -> DataUse:
    use = uses.setdefault(str(name), DataUse())
    if purpose not in use.purposes:
        use.purposes.append(purpose)
    return use
