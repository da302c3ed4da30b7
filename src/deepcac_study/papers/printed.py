"""Every printed cell of the papers, as one list with ids of this project."""

from dataclasses import dataclass
from typing import get_args

from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.methods import is_network, methods
from deepcac_study.papers.bibliography import PAPERS, Kind, PrintedTable
from deepcac_study.papers.entry import as_number
from deepcac_study.papers.names import LOGS, UNKNOWN, Name, clusters, lost_datasets, names

_DATASET_ITEMS = (
    *("n_instances", "n_classes", "n_features", "maj"),
    *("n_clusterings", "k", "avg_m", "N_node", "N_pair"),
)


@dataclass(frozen=True)
class PrintedCell:
    """One number or entry of a printed table."""

    source: str  # name of the facts file
    paper: str
    table: str
    kind: str  # score, alpha, summary, data, other, log; what decides it
    # Row and column as printed; `item` is the metric or the quantity.
    dataset: str
    method: str
    k: str
    item: str
    text: str  # the entry as printed; empty where the paper leaves it out
    sd: float | None  # printed standard deviation
    note: str  # remark on the printed entry
    # Ids of this project; empty where there is none.
    dataset_id: str
    method_id: str
    n_clusters: int | None  # k of the run that decides
    needs: str  # what gives access to the data; empty for open data
    lost: str  # why the data that it was printed from cannot be rebuilt; empty if they can be
    protocol: str  # the protocol whose run decides it, and no other (`own_protocol`)
    # As in `PrintedTable`.
    folds: bool = False
    setting: bool = False
    derived: bool = False
    same_split: bool = False
    averaged: bool = False

    @property
    def value(self) -> float | None:
        """The entry as a number, None where it is not one."""
        return as_number(self.text)


def printed_cells() -> list[PrintedCell]:
    """Return every printed cell of the five papers, then the authors' k = 1 log rows."""
    tables = [table for paper in PAPERS.values() for table in paper.tables]
    cells = [
        cell
        for kind in get_args(Kind)
        for table in tables
        if table.kind == kind
        for row in facts(table.source)
        for cell in _cells(table, row)
    ]
    return cells + _log_cells()


def _cells(table: PrintedTable, row: dict[str, str]) -> list[PrintedCell]:
    """Return the cells in one row of a facts file."""
    if table.kind == "score":
        return [_score(table, row)]
    if table.kind == "alpha":
        return [_cell(table, row, item="alpha", text=row["alpha"], method=_tuned_method(row))]
    if table.kind == "summary":
        return [_summary(table, row)]
    if table.kind == "data":
        items = [item for item in _DATASET_ITEMS if item in row]
        return [_cell(table, row, item=item, text=row[item]) for item in items]
    return [_other(table, row, item) for item in table.items.split()]


def _cell(
    table: PrintedTable,
    row: dict[str, str],
    *,
    item: str,
    text: str,
    method: str = "",
    sd: str = "",
    k: str = "",
    kind: str = "",
) -> PrintedCell:
    """Return a printed cell with our names; DeepCAC's "0.0 ± 0.0" counts as missing."""
    paper, dataset = row["paper"], row.get("dataset", "")
    data = names().get(("dataset", paper, dataset), UNKNOWN)
    way = names().get(("method", paper, method), UNKNOWN)
    missing = paper == "deepcac" and text == "0.0" and sd == "0.0"
    kind = kind or table.kind
    return PrintedCell(
        source=table.source,
        paper=paper,
        table=row.get("table", ""),
        kind=kind,
        dataset=dataset,
        method=method,
        k=k,
        item=item,
        text="" if missing else text,
        sd=float(sd) if sd and not missing else None,
        note=row.get("note", ""),
        dataset_id=data.id,
        method_id=way.id,
        n_clusters=clusters(k, way, data),
        needs=data.needs,
        lost=_lost(kind, item, paper, data),
        # The published programs are given their alphas (A11).
        protocol="sound"
        if kind == "alpha"
        else deciding_protocol(paper, way.id, folds=table.folds),
        folds=table.folds,
        setting=table.setting,
        derived=table.derived,
        same_split=table.same_split,
        averaged=table.averaged,
    )


def _lost(kind: str, item: str, paper: str, data: Name) -> str:
    """Return why a cell cannot be rebuilt; sizes need no labels, summaries need all data sets."""
    if kind == "data" and data.id and item.startswith("n_"):
        return ""
    if kind == "summary" and not data.id:
        return next(iter(lost_datasets(paper).values()), "")
    return data.lost


def _score(table: PrintedTable, row: dict[str, str]) -> PrintedCell:
    if row.get("test_clustering"):
        row = {**row, "note": "; ".join(filter(None, (row["test_clustering"], row["note"])))}
    fields = {name: row[name] for name in ("method", "sd", "k")}
    return _cell(table, row, item=row["metric"], text=row["mean"], **fields)


def _tuned_method(row: dict[str, str]) -> str:
    """Return the name of the clustered method that an alpha was tuned for."""
    label = row.get("classifier") or row["method"]
    if row["paper"] == "cac_v1" and label == "DMNN":
        return "DeepCAC"
    return f"CAC+{label}" if ("method", row["paper"], f"CAC+{label}") in names() else label


def _summary(table: PrintedTable, row: dict[str, str]) -> PrintedCell:
    scoped = {**row, "dataset": row["name"] if row["scope"] == "dataset" else ""}
    classifier = row["name"] if row["scope"] == "classifier" else ""
    return _cell(table, scoped, item=row["item"], text=row["value"], method=classifier)


def _other(table: PrintedTable, row: dict[str, str], item: str) -> PrintedCell:
    """Return a cell named by its row's cluster, feature or row, and `item`."""
    where = [row[key] for key in ("cluster", "feature", "row") if row.get(key) and key != item]
    return _cell(table, row, item=" ".join([*where, item]), text=row[item])


def _log_cells() -> list[PrintedCell]:
    """Return cells of the authors' logs, k = 1 only and no scores of class 1 alone."""
    logs = PrintedTable(
        source="authors_raw_results", number="", kind="score", title="", rows="", columns=""
    )
    cells = []
    for row in facts(logs.source):
        if row["k"] != "1" or ("dataset", LOGS, row["dataset"]) not in names():
            continue
        if row["source"].endswith(".txt") or "class 1" in row["auprc_average"]:
            continue
        place = {"paper": LOGS, "table": _log_name(row["source"]), "note": row["config"]}
        macro = "_macro" if "macro" in row["auprc_average"] else ""
        for column, item in (
            ("f1", "f1_macro"),
            ("auc", f"auroc{macro}"),
            ("auprc", f"auprc{macro}"),
        ):
            values = {"text": row[column], "sd": row[f"{column}_std"], "method": row["method"]}
            cells.append(_cell(logs, {**row, **place}, item=item, k="1", kind="log", **values))
    return cells


def _log_name(source: str) -> str:
    """Shorten ``commit:folders/file = remark`` to ``commit:file``."""
    commit, _, path = source.partition(" =")[0].partition(":")
    return f"{commit}:{path.rpartition('/')[2]}"


def deciding_protocol(paper: str, method: str, *, folds: bool) -> str:
    """Return the protocol whose run a printed number is compared with.

    The neural methods of the CAC papers came from separate programs, which were not published:
    their numbers are compared with the sound runs. The alphas of CAC v2 (switch V2) affect only
    CAC. `folds`: the number was printed from five-fold cross-validation.
    """
    if paper in ("cac_v1", "cac_v2") and is_network(method):
        return "sound"
    if paper == "cac_v2":
        of_cac = method in methods() and methods()[method].arm == "cac"
        return "as_published_v2" if of_cac else "as_published_cv5"
    return "as_published_cv5" if folds else "as_published"
