"""Every printed cell of the papers, as one list with the project's own ids."""

from dataclasses import dataclass

from deepcac.catalogue.facts import facts
from deepcac.catalogue.methods import DEEP
from deepcac.papers.names import Name, clusters, names

SCORE_TABLES = (
    "cac_v1_table1_f1_heldout",
    "cac_v1_table4_f1_cv5",
    "cac_v1_table5_f1_heldout_5x",
    "cac_v2_table2_f1",
    "cac_v2_table3_auc",
    "deepcac_table2_auprc",
    "deepcac_table3_ts_auprc",
    "deepcac_table5_f1",
    "deepcac_table6_auc",
    "deepcac_table9_ts_auc",
    "skmeans_table3_loss",
    "classdecomp_table1_accuracy",
)
ALPHA_TABLES = ("cac_v1_table3_alpha", "cac_v2_table4_alpha", "deepcac_table4_alpha")
# Printed from five-fold cross-validation; their runs as published are cross-validated too.
CROSS_VALIDATED = ("cac_v1_table4_f1_cv5", "cac_v2_table2_f1", "cac_v2_table3_auc")
SUMMARY_TABLES = tuple(f"{name}_summary" for name in SCORE_TABLES[:3])
DATASET_TABLES = (
    "cac_v1_table2_datasets",
    "cac_v2_table1_datasets",
    "deepcac_table1_datasets",
    "skmeans_table1_datasets",
)
OTHER_TABLES = {
    "skmeans_table2_C": ("C_low", "C_high"),
    "skmeans_table4_wins": ("win", "tie", "lose", "W", "n_sr", "p_1tail"),
    "deepcac_table7_cluster_features": ("mean",),
    "deepcac_table8_important_features": ("feature",),
}
_DATASET_ITEMS = (
    "n_instances",
    "n_classes",
    "n_features",
    "maj",
    "n_clusterings",
    "k",
    "avg_m",
    "N_node",
    "N_pair",
)
_UNKNOWN = Name("", None, "")


@dataclass(frozen=True)
class PrintedCell:
    """One number or entry of a printed table.

    Attributes
    ----------
    source : str
        Name of the facts file.
    paper, table : str
        Where it is printed.
    kind : {"score", "alpha", "summary", "data", "other", "log"}
        What decides it.
    dataset, method, k, item : str
        Row and column as printed; `item` is the metric or the quantity.
    text : str
        The entry as printed; empty where the paper leaves it out.
    sd : float or None
        Printed standard deviation.
    note : str
        Remark on the print.
    dataset_id, method_id : str
        Ids of this project; empty where there is none.
    n_clusters : int or None
        k of the run that decides.
    needs : str
        What gives access to the data; empty for open data.
    """

    source: str
    paper: str
    table: str
    kind: str
    dataset: str
    method: str
    k: str
    item: str
    text: str
    sd: float | None
    note: str
    dataset_id: str
    method_id: str
    n_clusters: int | None
    needs: str

    @property
    def value(self) -> float | None:
        """The entry as a number, None where it is not one."""
        try:
            return float(self.text)
        except ValueError:
            return None


def printed_cells() -> list[PrintedCell]:
    """Return every printed cell of the five papers, then the authors' k = 1 log rows."""
    cells = [_score(name, row) for name in SCORE_TABLES for row in facts(name)]
    for name in ALPHA_TABLES:
        cells += [_alpha(name, row) for row in facts(name)]
    for name in SUMMARY_TABLES:
        cells += [_summary(name, row) for row in facts(name)]
    for name in DATASET_TABLES:
        for row in facts(name):
            cells += [
                _cell(name, row, "data", item=item, text=row[item])
                for item in _DATASET_ITEMS
                if item in row
            ]
    for name, items in OTHER_TABLES.items():
        for row in facts(name):
            cells += [_other(name, row, item) for item in items]
    return cells + _log_cells()


def _cell(
    source: str,
    row: dict[str, str],
    kind: str,
    *,
    item: str,
    text: str,
    method: str = "",
    sd: str = "",
    k: str = "",
) -> PrintedCell:
    paper = row["paper"]
    dataset = row.get("dataset", "")
    data = names().get(("dataset", paper, dataset), _UNKNOWN)
    way = names().get(("method", paper, method), _UNKNOWN)
    missing = paper == "deepcac" and text == "0.0" and sd == "0.0"
    return PrintedCell(
        source=source,
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
        n_clusters=clusters(k, way, data.id, paper),
        needs=data.needs,
    )


def _score(name: str, row: dict[str, str]) -> PrintedCell:
    if row.get("test_clustering"):
        row = {**row, "note": "; ".join(filter(None, (row["test_clustering"], row["note"])))}
    return _cell(
        name,
        row,
        "score",
        item=row["metric"],
        text=row["mean"],
        method=row["method"],
        sd=row["sd"],
        k=row["k"],
    )


def _alpha(name: str, row: dict[str, str]) -> PrintedCell:
    label = row.get("classifier") or row["method"]
    clustered = f"CAC+{label}" if ("method", row["paper"], f"CAC+{label}") in names() else label
    if row["paper"] == "cac_v1" and label == "DMNN":
        clustered = "DeepCAC"
    return _cell(name, row, "alpha", item="alpha", text=row["alpha"], method=clustered)


def _summary(name: str, row: dict[str, str]) -> PrintedCell:
    scoped = {**row, "dataset": row["name"] if row["scope"] == "dataset" else ""}
    classifier = row["name"] if row["scope"] == "classifier" else ""
    return _cell(name, scoped, "summary", item=row["item"], text=row["value"], method=classifier)


def _other(name: str, row: dict[str, str], item: str) -> PrintedCell:
    where = [row[key] for key in ("cluster", "feature", "row") if row.get(key) and key != item]
    return _cell(name, row, "other", item=" ".join([*where, item]), text=row[item])


def _log_cells() -> list[PrintedCell]:
    cells = []
    for row in facts("authors_raw_results"):
        if row["k"] != "1" or ("dataset", "authors", row["dataset"]) not in names():
            continue
        if row["source"].endswith(".txt") or "class 1" in row["auprc_average"]:
            continue
        macro = "macro" in row["auprc_average"]
        for column, metric in (("f1", "f1_macro"), ("auc", "auroc"), ("auprc", "auprc")):
            item = f"{metric}_macro" if macro and metric in ("auroc", "auprc") else metric
            source = {
                **row,
                "paper": "authors",
                "table": _log_name(row["source"]),
                "note": row["config"],
            }
            cells.append(
                _cell(
                    "authors_raw_results",
                    source,
                    "log",
                    item=item,
                    text=row[column],
                    method=row["method"],
                    sd=row[f"{column}_std"],
                    k="1",
                )
            )
    return cells


def _log_name(source: str) -> str:
    """Shorten ``commit:folders/file = remark`` to ``commit:file``."""
    commit, _, path = source.partition(" =")[0].partition(":")
    return f"{commit}:{path.rpartition('/')[2]}"


def published_protocols(paper: str, method: str, *, folds: bool) -> tuple[str, ...]:
    """Return the protocols that repeat a printed number, the closest first; () if none does.

    The neural methods of the CAC papers came from programs of their own. The deep switches are
    those of DeepCAC's program, so that their numbers are held against the sound runs alone.

    Parameters
    ----------
    paper : str
        Key of `names.PAPERS`.
    method : str
        Method id; may be empty.
    folds : bool
        Whether the number was printed from five-fold cross-validation, as all of CAC v2.
    """
    if paper in ("cac_v1", "cac_v2") and method in DEEP:
        return ()
    if paper == "cac_v2":
        return "as_published_v2", "as_published_cv5", "as_published"
    return ("as_published_cv5", "as_published") if folds else ("as_published",)
