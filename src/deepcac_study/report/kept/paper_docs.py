"""The documentation's tables and sentences of the papers: runs, printed cells, claims."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from deepcac.errors import ConfigError
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import Row, three
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import KINDS
from deepcac_study.papers.null_rate import null_rate
from deepcac_study.papers.summary import NULL, Count, on_prediction
from deepcac_study.report.runs.runtables import protocol_label

_ASKED = re.compile(r"(?P<method>\w+):(?P<k>\d+)(?:@(?P<protocol>\w+))?")
_METRICS = {"auprc": "AUPRC", "auprc_macro": "AUPRC, mean over the classes,"}
_OF_A_ROW = "loss_delta"  # an item whose printed row is named in the note
_WITH_SPREAD = "+-"
_PLAIN = re.compile(r"(CAC|KM) − (KM|plain)")
_CELLS = ("printed", "open", "agree", "differ", "not_run", *NULL)
_CLAIMS = (
    *("claims", "holds", "partly", "fails", "cannot_hold", "undecided"),
    *("not_decidable", "not_run"),
)
_FITTED = ("score", "alpha")  # kinds of cells that a run's fits decide, and not its data alone


def runs(table: pd.DataFrame, metrics: str, datasets: str, *asked: str) -> Table:
    """Return a row for each asked run, a column for each data set.

    A slash stands between metrics, of which one that ends with ``+-`` shows its deviation, a comma
    between data sets. A run is ``method:k``, sound, or ``method:k@protocol``.
    """
    known = {
        (str(row["dataset"]), str(row["method"]), int(row["k"]), str(row["protocol"])): row
        for row in table.to_dict("records")
    }

    def scores(name: str) -> How:
        return lambda run: _scores(known[name, *run], metrics) if (name, *run) in known else ""

    columns: dict[str, How] = {"": _name, **{name: scores(name) for name in datasets.split(",")}}
    return Table.of(map(_run, asked), columns)


def one_cluster(table: pd.DataFrame, method: str, metric: str, protocol: str) -> str:
    """Say how a method with two clusters or more scores beside itself with one, run by run."""
    own = table[(table["method"] == method) & (table["protocol"] == protocol)]
    wide = own.pivot(index="dataset", columns="k", values=metric)
    gaps = wide.drop(columns=1).sub(wide[1], axis=0).to_numpy(dtype=float)
    gaps = gaps[~np.isnan(gaps)]
    low, high = (three(end, signed=True) for end in (float(gaps.min()), float(gaps.max())))
    return (
        f"In that protocol two to four clusters have a lower mean than one in {(gaps < 0).sum()} "
        f"of {len(gaps)} runs ({_METRICS[metric]} {low} to {high}, not tested).\n"
    )


def _run(asked: str) -> tuple[str, int, str]:
    found = _ASKED.fullmatch(asked)
    if not found:
        raise ConfigError(f"no run {asked!r}; write method:k or method:k@protocol")
    return found["method"], int(found["k"]), found["protocol"] or "sound"


def _name(run: tuple[str, int, str]) -> str:
    method, k, protocol = run
    parts = [method_label(method), f"k = {k}" if k > 1 else "", protocol_label(protocol)]
    return ", ".join(part for part in parts if part and part != "sound")


def _scores(run: Row, metrics: str) -> str:
    return " / ".join(_score(run, metric) for metric in metrics.split("/"))


def _score(run: Row, metric: str) -> str:
    name = metric.removesuffix(_WITH_SPREAD)
    shown = metric != name and run["splits"] > 1 and not pd.isna(run[name])
    return _or_dash(run[name]) + (f" +- {three(run[f'{name}_sd'])}" if shown else "")


def _or_dash(value: float) -> str:
    return three(float(value)) or "-"


def printed(table: pd.DataFrame, paper: str, number: str, dataset: str, item: str) -> Table:
    """Return what a paper's table prints on a data set, and ours, every k in a cell."""
    names = ["paper", "table", "dataset", "item"]
    own = table[(table[names].astype(str) == [paper, number, dataset, item]).all(axis=1)]
    ks = sorted({int(k) for k in own["k"].dropna()})

    def values(name: str) -> How:
        return lambda group: " ".join(_or_dash(value) for value in group[1][name])

    columns: dict[str, How] = {
        f"k = {' '.join(map(str, ks))}": lambda group: group[0],
        "printed": values("printed"),
        "as published": values("as_published"),
    }
    return Table.of(own.sort_values("k", kind="stable").groupby("method", sort=False), columns)


def printed_table(table: pd.DataFrame, paper: str, number: str) -> Table:
    """Return the rows of a printed table that were run, a column a method.

    A cell is printed / sound / as published.
    """
    own = table.fillna({"method": "None"}).astype(object).fillna("").astype(str)  # a method's name
    own = own[(own["paper"] == paper) & (own["table"] == number) & (own["printed"] != "")]
    own = own[own["sound"] + own["as_published"] != ""]
    part = own["note"].str.split("[;:]", regex=True).str[0].str.strip()
    place = own["dataset"].where(own["item"] != _OF_A_ROW, own["dataset"] + ", " + part)

    def cell(method: str) -> How:
        return lambda group: _three_ways(group[1][group[1]["method"] == method])

    methods = {method: cell(method) for method in dict.fromkeys(own["method"])}
    columns: dict[str, How] = {"printed / sound / as published": lambda group: group[0], **methods}
    return Table.of(own.groupby(place, sort=False), columns)


def _three_ways(cell: pd.DataFrame) -> str:
    found = cell.head(1)[["printed", "sound", "as_published"]].to_numpy().flatten()
    return " / ".join(map(_tenth, found))


def _tenth(value: str) -> str:
    sign = "+" if value[:1] == "+" else ""
    return f"{float(value):{sign}.1f}" if value else "-"


def cell_tables(table: pd.DataFrame) -> Table:
    """Count the decided cells of each printed table that agree, those that are evidence alone.

    With the null rate, and with how many are decided by runs that decide cells of an earlier table
    too: these do not count as runs of their own.
    """
    own = table[table["derived"].isna() & table["verdict"].isin([AGREE, DIFFER])]
    own = own[own["paper"].isin(PAPERS)].astype({"table": str})
    order = own["paper"].map(list(PAPERS).index)
    own = own.assign(order=order).sort_values(["order", "table"], kind="stable")
    known: dict[str, str] = {}  # run: the first table with a cell of it
    rows = []
    for (paper, number), cells in own.groupby(["paper", "table"], sort=False):
        where = f"Table {number}" if str(number).isdigit() else number
        name = f"{PAPERS[str(paper)].label} {where}"
        runs = cells.loc[cells["kind"].isin(_FITTED), "run"].dropna()
        earlier = runs.map(known).dropna().value_counts()
        shared = ", ".join(f"{n} ({first})" for first, n in earlier.items())
        rows.append({"printed in": name, **_counted(cells), "of runs of an earlier table": shared})
        known |= {run: name for run in runs if run not in known}
    return Table.of(rows, {name: name for name in rows[0]} if rows else {}, n_labels=2)


def _counted(cells: pd.DataFrame) -> dict[str, object]:
    runs, agree, rivals = (
        cells[name].fillna(empty).tolist()
        for name, empty in (("run", ""), ("rivals_agree", 0), ("rivals", 0))
    )
    null = null_rate(runs, agree, rivals)
    return {
        "what": ", ".join(dict.fromkeys(cells["kind"])),
        "agree": (cells["verdict"] == AGREE).sum(),
        "of decided": len(cells),
        "null rate": _or_dash(null.rate),
        "95 % interval": "-" if pd.isna(null.low) else f"{three(null.low)} to {three(null.high)}",
        "by cell": _or_dash(null.by_cell),
    }


def verdict_rows(table: pd.DataFrame, paper: str) -> Table:
    """Return the verdict on each claim of a paper and what decided it."""
    own = table[table["paper"] == paper].fillna("").astype(str)
    columns: dict[str, How] = {
        "": "id",
        "claim": "claim",
        "sound": "verdict",
        "as published": "as_published",
        "figures": ("reason", lambda text: text.replace("|", ";")),
    }
    return Table.of(own, columns, n_labels=5)


def repeats(table: pd.DataFrame) -> Table:
    """Name the claims that say the same as an earlier one."""
    again = table.dropna(subset="same_as").groupby("same_as")["id"].agg(", ".join).reset_index()
    return Table.of(again, {"claim": "same_as", "said again by": "id"}, n_labels=2)


def answer(table: pd.DataFrame, family: str) -> Table:
    """Return how many comparisons of base classifiers or of networks show a difference."""
    base = table["comparison"].str.fullmatch(_PLAIN)
    own = table[base if family == "base" else ~base].fillna("")
    return Table.of(own, {name: name for name in own.columns}, n_labels=len(own.columns))


def cells(table: pd.DataFrame) -> Table:
    """Count printed cells that agree, by paper, and what another method's cell would do."""
    return _by_paper(table, "cells", "independent", _CELLS)


def claims(table: pd.DataFrame, group: str) -> Table:
    """Count what became of the claims of each paper, ``sound`` or ``as_published``."""
    return _by_paper(table, "claims", group, _CLAIMS)


def _by_paper(table: pd.DataFrame, part: str, group: str, quantities: tuple[str, ...]) -> Table:
    own = table[(table["part"] == part) & (table["group"] == group)]
    wide = own.pivot(index="paper", columns="quantity", values="value")
    labels = {**{key: paper.label for key, paper in PAPERS.items()}, "all": "all five"}
    return _quantities(wide, "paper", labels, quantities)


def kinds(table: pd.DataFrame) -> Table:
    """Count what became of the claims of each kind, those that say the same once."""
    own = table[(table["part"] == "claims") & (table["paper"] == "all")]
    wide = own[own["group"].isin(KINDS)].pivot(index="group", columns="quantity", values="value")
    there = {kind: about for kind, about in KINDS.items() if kind in wide.index}
    return _quantities(wide, "claims on", there, _CLAIMS)


def _quantities(
    wide: pd.DataFrame, name: str, labels: Mapping[str, str], quantities: tuple[str, ...]
) -> Table:
    """Return a row for each label, a column for each quantity."""
    wide = wide.reindex(columns=quantities)

    def count(quantity: str) -> How:
        def cell(key: str) -> str:
            value: Any = wide.loc[key, quantity]
            return _or_dash(value) if quantity in NULL or pd.isna(value) else f"{value:.0f}"

        return cell

    shown = {quantity.replace("_", " "): count(quantity) for quantity in quantities}
    return Table.of(labels, {name: labels.__getitem__, **shown})


def prediction(table: pd.DataFrame) -> str:
    """Say how many claims that CAC or DeepCAC predicts better hold, in a sentence."""
    rows = table[table["part"] == "claims"].fillna("").astype(str).to_numpy().tolist()
    return on_prediction(Count(*row) for row in rows) + "\n"
