"""Tables of the documentation about the papers' methods, from the snapshot of a run."""

import re
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from deepcac.errors import ConfigError
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import KINDS
from deepcac_study.papers.extension import CLAIMS, LEDGER, SUMMARY
from deepcac_study.papers.summary import NULL, Count, on_prediction
from deepcac_study.report.markdown import Tables, markdown_table, three
from deepcac_study.report.run_snapshot import ANSWER, RUNS
from deepcac_study.report.runtables import protocol_label

_ASKED = re.compile(r"(?P<method>\w+):(?P<k>\d+)(?:@(?P<protocol>\w+))?")
_OF_A_ROW = "loss_delta"  # an item whose printed row is named in the note
_WITH_SPREAD = "+-"
_PLAIN = re.compile(r"(CAC|KM) − (KM|plain)")
_CELLS = ("printed", "open", "agree", "differ", "not_run", *NULL)
_CLAIMS = (
    "claims", "holds", "partly", "fails", "cannot_hold", "undecided", "not_decidable", "not_run",
)  # fmt: skip


def runs(tables: Tables, metrics: str, datasets: str, *asked: str) -> str:
    """Return a row for each asked run, a column for each data set.

    Parameters
    ----------
    tables : mapping
        Of the snapshot.
    metrics : str
        Their names, with a slash between; one that ends with ``+-`` shows its deviation.
    datasets : str
        Their ids, with a comma between.
    *asked : str
        ``method:k``, sound, or ``method:k@protocol``.
    """
    known = {
        (str(row["protocol"]), str(row["dataset"]), str(row["method"]), int(row["k"])): row
        for row in tables[RUNS].to_dict("records")
    }
    names = datasets.split(",")
    rows = []
    for one in asked:
        found = _ASKED.fullmatch(one)
        if not found:
            raise ConfigError(f"no run {one!r}; write method:k or method:k@protocol")
        method, k, protocol = found["method"], int(found["k"]), found["protocol"] or "sound"
        cells = (
            _scores(known[place], metrics) if place in known else ""
            for place in ((protocol, name, method, k) for name in names)
        )
        rows.append([_name(method, k, protocol), *cells])
    return markdown_table(("", *names), rows)


def _name(method: str, k: int, protocol: str) -> str:
    parts = [method_label(method), f"k = {k}" if k > 1 else "", protocol_label(protocol)]
    return ", ".join(part for part in parts if part and part != "sound")


def _scores(run: Mapping[Hashable, Any], metrics: str) -> str:
    return " / ".join(_score(run, metric) for metric in metrics.split("/"))


def _score(run: Mapping[Hashable, Any], metric: str) -> str:
    name = metric.removesuffix(_WITH_SPREAD)
    if pd.isna(run[name]):
        return "-"
    shown = metric != name and run["splits"] > 1
    spread = f" +- {three(run[f'{name}_sd'])}" if shown else ""
    return three(run[name]) + spread


def printed(tables: Tables, paper: str, table: str, dataset: str, item: str) -> str:
    """Return what a paper's table prints on a data set, and ours, every k in a cell."""
    own = tables[LEDGER]
    own = own[
        (own["paper"] == paper)
        & (own["table"].astype(str) == table)
        & (own["dataset"] == dataset)
        & (own["item"] == item)
    ]
    columns = ("printed", "as_published")
    rows = [
        [str(method), *(" ".join(_or_dash(value) for value in group[name]) for name in columns)]
        for method, group in own.sort_values("k", kind="stable").groupby("method", sort=False)
    ]
    ks = sorted({int(k) for k in own["k"].dropna()})
    head = (f"k = {' '.join(map(str, ks))}", *(name.replace("_", " ") for name in columns))
    return markdown_table(head, rows)


def printed_table(tables: Tables, paper: str, number: str) -> str:
    """Return the rows of a printed table that were run, a column a method.

    A cell is printed / sound / as published.
    """
    own = tables[LEDGER].fillna({"method": "None"}).fillna("").astype(str)  # a method's name
    own = own[(own["paper"] == paper) & (own["table"] == number) & (own["printed"] != "")]
    own = own[own["sound"] + own["as_published"] != ""]
    part = own["note"].str.split("[;:]", regex=True).str[0].str.strip()
    place = own["dataset"].where(own["item"] != _OF_A_ROW, own["dataset"] + ", " + part)
    methods = list(dict.fromkeys(own["method"]))
    rows = [
        [str(name), *(_three_ways(group[group["method"] == method]) for method in methods)]
        for name, group in own.groupby(place, sort=False)
    ]
    return markdown_table(("printed / sound / as published", *methods), rows)


def _three_ways(cell: pd.DataFrame) -> str:
    if cell.empty:
        return ""
    first = cell.iloc[0]
    return " / ".join(_tenth(first[name]) for name in ("printed", "sound", "as_published"))


def _tenth(value: str) -> str:
    sign = "+" if value[:1] == "+" else ""
    return f"{sign}{float(value):.1f}" if value else "-"


def verdict_rows(tables: Tables, paper: str) -> str:
    """Return the verdict on each claim of a paper and what decided it."""
    own = tables[CLAIMS].fillna("")
    own = own[own["paper"] == paper]
    rows = own[["id", "claim", "verdict", "as_published", "reason"]].astype(str)
    cells = rows.replace({r"\|": ";"}, regex=True).to_numpy().tolist()
    return markdown_table(("", "claim", "sound", "as published", "figures"), cells, n_labels=5)


def _or_dash(value: Any) -> str:
    return "-" if pd.isna(value) else three(float(value))


def answer(tables: Tables, family: str) -> str:
    """Return how many comparisons of base classifiers or of networks show a difference."""
    table = tables[ANSWER]
    base = table["comparison"].str.fullmatch(_PLAIN)
    own = table[base if family == "base" else ~base]
    rows = own.fillna("").astype(str).to_numpy().tolist()
    return markdown_table([str(name) for name in own.columns], rows, n_labels=len(own.columns))


def cells(tables: Tables) -> str:
    """Count printed cells that agree, by paper, and what another method's cell would do."""
    return _counts(tables, "cells", "independent", _CELLS)


def claims(tables: Tables, group: str) -> str:
    """Count what became of the claims of each paper, ``sound`` or ``as_published``."""
    return _counts(tables, "claims", group, _CLAIMS)


def kinds(tables: Tables) -> str:
    """Count what became of the claims of each kind, those that say the same once."""
    own = tables[SUMMARY]
    own = own[(own["part"] == "claims") & (own["paper"] == "all") & own["group"].isin(KINDS)]
    by_kind = own.pivot(index="group", columns="quantity", values="value")
    rows = [
        [about, *(_count(by_kind.loc[kind, quantity], quantity) for quantity in _CLAIMS)]
        for kind, about in KINDS.items()
        if kind in by_kind.index
    ]
    return markdown_table(("claims on", *(name.replace("_", " ") for name in _CLAIMS)), rows)


def prediction(tables: Tables) -> str:
    """Say how many claims that CAC or DeepCAC predicts better hold, in a sentence."""
    own = tables[SUMMARY].fillna("").astype(str)
    rows = own[own["part"] == "claims"].to_numpy().tolist()
    return on_prediction(Count(*row) for row in rows) + "\n"


def repeats(tables: Tables) -> str:
    """Name the claims that say the same as an earlier one."""
    own = tables[CLAIMS].fillna("")
    again = own[own["same_as"] != ""].groupby("same_as")["id"].agg(", ".join)
    return markdown_table(("claim", "said again by"), again.reset_index().to_numpy().tolist(), 2)


def _counts(tables: Tables, part: str, group: str, quantities: tuple[str, ...]) -> str:
    own = tables[SUMMARY]
    own = own[(own["part"] == part) & (own["group"] == group)]
    by_paper = own.pivot(index="paper", columns="quantity", values="value")
    by_paper = by_paper.reindex(columns=quantities)
    rows = [
        [
            PAPERS[paper].label if paper in PAPERS else "all five",
            *(_count(by_paper.loc[paper, quantity], quantity) for quantity in quantities),
        ]
        for paper in (*PAPERS, "all")
    ]
    return markdown_table(("paper", *(name.replace("_", " ") for name in quantities)), rows)


def _count(value: Any, quantity: str) -> str:
    if pd.isna(value):
        return "-"
    return three(float(value)) if quantity in NULL else f"{float(value):.0f}"
