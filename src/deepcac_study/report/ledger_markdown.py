"""The documentation's table of the ledger by printed table: what a count of agreement rests on."""

import pandas as pd

from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.extension import LEDGER
from deepcac_study.papers.null_rate import null_rate
from deepcac_study.report.markdown import Tables, markdown_table, three

_HEAD = (
    *("printed in", "what", "agree", "of decided", "null rate", "95 % interval", "by cell"),
    "of runs of an earlier table",
)
_FITTED = ("score", "alpha")  # kinds of cells that a run's fits decide, and not its data alone


def cell_tables(tables: Tables) -> str:
    """Count the decided cells of each printed table that agree, those that are evidence alone.

    With the null rate, and with how many are decided by runs that decide cells of an earlier table
    too: these do not count as runs of their own.
    """
    own = tables[LEDGER]
    own = own[own["derived"].isna() & own["verdict"].isin([AGREE, DIFFER])]
    own = own[own["paper"].isin(PAPERS)].astype({"table": str})
    order = own["paper"].map(list(PAPERS).index)
    own = own.assign(order=order).sort_values(["order", "table"], kind="stable")
    known: dict[str, str] = {}  # run: the first table with a cell of it
    rows = []
    for (paper, table), cells in own.groupby(["paper", "table"], sort=False):
        name = f"{PAPERS[str(paper)].label} {_table(str(table))}"
        runs = cells.loc[cells["kind"].isin(_FITTED), "run"].dropna()
        earlier = runs.map(known).dropna().value_counts()
        rows.append([name, *_counted(cells), _shared(earlier)])
        known |= {run: name for run in runs if run not in known}
    return markdown_table(_HEAD, rows, n_labels=2)


def _table(number: str) -> str:
    return f"Table {number}" if number.isdigit() else number


def _counted(cells: pd.DataFrame) -> list[str]:
    runs, agree, rivals = (
        cells[name].fillna(empty).tolist()
        for name, empty in (("run", ""), ("rivals_agree", 0), ("rivals", 0))
    )
    null = null_rate(runs, agree, rivals)
    interval = "-" if pd.isna(null.low) else f"{three(null.low)} to {three(null.high)}"
    shares = ("-" if pd.isna(share) else three(share) for share in (null.rate, null.by_cell))
    rate, by_cell = shares
    n_agree = (cells["verdict"] == AGREE).sum()
    kind = ", ".join(dict.fromkeys(cells["kind"]))
    return [kind, str(n_agree), str(len(cells)), rate, interval, by_cell]


def _shared(earlier: "pd.Series[int]") -> str:
    return ", ".join(f"{n} ({name})" for name, n in earlier.items())
