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
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import KINDS
from deepcac_study.papers.summary import NULL, Count, on_prediction
from deepcac_study.report.runs.runtables import protocol_label

_ASKED = re.compile(r"(?P<method>\w+):(?P<k>\d+)(?:@(?P<protocol>\w+))?")
_METRICS = {"auprc": "AUPRC", "auprc_macro": "AUPRC, mean over the classes,"}
_WITH_SPREAD = "+-"
_CELLS = ("printed", "open", "agree", "differ", "not_run", *NULL)
_CLAIMS = (
    *("claims", "holds", "partly", "fails", "cannot_hold", "undecided"),
    *("not_decidable", "not_run"),
)


def runs(table: pd.DataFrame, metrics: str, datasets: str, *asked: str) -> Table:
    """Return a row for each asked run, a column for each data set.

    A slash stands between metrics, of which one that ends with ``+-`` shows its deviation, a comma
    between data sets. A run is ``method:k``, sound, or ``method:k@protocol``.
    """
    by_run = {
        (str(row["dataset"]), str(row["method"]), int(row["k"]), str(row["protocol"])): row
        for row in table.to_dict("records")
    }

    def scores(name: str) -> How:
        return lambda run: _scores(by_run[name, *run], metrics) if (name, *run) in by_run else ""

    columns: dict[str, How] = {"": _name, **{name: scores(name) for name in datasets.split(",")}}
    return Table.of(map(_run, asked), columns)


def one_cluster(table: pd.DataFrame, method: str, metric: str, protocol: str) -> str:
    """Say how a method with two clusters or more scores beside itself with one, run by run."""
    rows = table[(table["method"] == method) & (table["protocol"] == protocol)]
    wide = rows.pivot(index="dataset", columns="k", values=metric)
    gaps = wide.drop(columns=1).sub(wide[1], axis=0).to_numpy(dtype=float)
    gaps = gaps[~np.isnan(gaps)]
    low, high = (three(end, signed=True) for end in (float(gaps.min()), float(gaps.max())))
    return (
        f"In that protocol two to four clusters have a lower mean than one in {(gaps < 0).sum()} "
        f"of {len(gaps)} runs ({_METRICS[metric]} {low} to {high}, not tested).\n"
    )


def _run(asked: str) -> tuple[str, int, str]:
    match = _ASKED.fullmatch(asked)
    if not match:
        raise ConfigError(f"no run {asked!r}; write method:k or method:k@protocol")
    return match["method"], int(match["k"]), match["protocol"] or "sound"


def _name(run: tuple[str, int, str]) -> str:
    method, k, protocol = run
    other = "" if protocol == SOUND.name else protocol_label(protocol)
    parts = [method_label(method), f"k = {k}" if k > 1 else "", other]
    return ", ".join(part for part in parts if part)


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
    rows = table[(table[names].astype(str) == [paper, number, dataset, item]).all(axis=1)]
    ks = sorted({int(k) for k in rows["k"].dropna()})

    def values(name: str) -> How:
        return lambda group: " ".join(_or_dash(value) for value in group[1][name])

    columns: dict[str, How] = {
        f"k = {' '.join(map(str, ks))}": lambda group: group[0],
        "printed": values("printed"),
        "as published": values("as_published"),
    }
    return Table.of(rows.sort_values("k", kind="stable").groupby("method", sort=False), columns)


def cells(table: pd.DataFrame) -> Table:
    """Count printed cells that agree, by paper, and what another method's cell would do."""
    return _by_paper(table, "cells", "independent", _CELLS)


def _by_paper(table: pd.DataFrame, part: str, group: str, quantities: tuple[str, ...]) -> Table:
    rows = table[(table["part"] == part) & (table["group"] == group)]
    wide = rows.pivot(index="paper", columns="quantity", values="value")
    labels = {**{key: paper.label for key, paper in PAPERS.items()}, "all": "all five"}
    return _quantities(wide, "paper", labels, quantities)


def kinds(table: pd.DataFrame) -> Table:
    """Count what became of the claims of each kind, those that say the same once."""
    rows = table[(table["part"] == "claims") & (table["paper"] == "all")]
    wide = rows[rows["group"].isin(KINDS)].pivot(index="group", columns="quantity", values="value")
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
