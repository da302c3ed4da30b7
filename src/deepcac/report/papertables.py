"""The papers' tables in their own shape, each cell beside our numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deepcac.papers.ledger import Entry
from deepcac.papers.names import PAPERS
from deepcac.report.tables import Cell, Table, text_row

Key = Callable[[Entry], tuple[str, ...]]


@dataclass(frozen=True)
class Shape:
    """How a paper lays a table out.

    Attributes
    ----------
    title : str
        What the table holds.
    rows, columns : str
        Fields of a ledger entry, joined by a space, that name a row and a column.
    kind : str
        Kind of ledger entry.
    """

    title: str
    rows: str
    columns: str
    kind: str = "score"


SHAPES = {
    ("cac_v1", "1"): Shape("F1 on one held-out set", "method", "dataset"),
    ("cac_v1", "2"): Shape("Data sets", "dataset", "item", "data"),
    ("cac_v1", "3"): Shape("Tuned alpha", "method", "dataset", "alpha"),
    ("cac_v1", "4"): Shape("F1, 5-fold cross-validation", "method", "dataset"),
    ("cac_v1", "5"): Shape("F1, five runs on held-out data", "method", "dataset"),
    ("cac_v2", "1"): Shape("Data sets", "dataset", "item", "data"),
    ("cac_v2", "2"): Shape("F1", "dataset", "method"),
    ("cac_v2", "3"): Shape("AUC", "dataset", "method"),
    ("cac_v2", "4"): Shape("Suitable alpha", "dataset", "method", "alpha"),
    ("deepcac", "1"): Shape("Data sets", "dataset", "item", "data"),
    ("deepcac", "2"): Shape("AUPRC", "dataset k", "method"),
    ("deepcac", "3"): Shape("AUPRC on time series", "dataset k", "method"),
    ("deepcac", "4"): Shape("Tuned alpha", "method", "dataset", "alpha"),
    ("deepcac", "5"): Shape("F1 of CAC", "method", "dataset"),
    ("deepcac", "6"): Shape("AUC", "dataset k", "method"),
    ("deepcac", "7"): Shape("Features that tell the clusters apart", "item", "dataset", "other"),
    ("deepcac", "8"): Shape("Most important features by cluster", "item", "dataset", "other"),
    ("deepcac", "9"): Shape("AUC on time series", "dataset k", "method"),
    ("skmeans", "1"): Shape("Data sets", "dataset", "item", "data"),
    ("skmeans", "2"): Shape("Range of C", "dataset", "item", "other"),
    ("skmeans", "3"): Shape("Loss", "dataset note", "method"),
    ("skmeans", "4"): Shape("Wins, ties and losses", "dataset", "item", "other"),
    ("classdecomp", "1"): Shape("Accuracy and gain by decomposition", "dataset", "method"),
}
NOTE = (
    "Each cell: printed | ours as published | ours sound. ✓ agrees (within 2 combined standard "
    "deviations, or 0.02 where no spread is printed), ✗ differs; the mark belongs to the as "
    "published number where there is one."
)


def paper_tables(ledger: Sequence[Entry]) -> list[Table]:
    """Return every printed table, filled from the ledger.

    Summary rows and columns of CAC v1's tables follow as tables of their own.
    """
    tables = []
    for (paper, number), shape in SHAPES.items():
        rows = [
            entry
            for entry in ledger
            if entry.paper == paper and entry.kind == shape.kind and _in_table(entry, number)
        ]
        tables.append(_table(f"{paper}_table{number}", paper, number, shape, rows))
    for number in ("1", "4", "5"):
        rows = [e for e in ledger if e.kind == "summary" and e.table == number]
        shape = Shape("counts and averages", "method dataset", "item", "summary")
        tables.append(_table(f"cac_v1_table{number}_summary", "cac_v1", number, shape, rows))
    return [*tables, _logs([e for e in ledger if e.kind == "log"])]


def _in_table(entry: Entry, number: str) -> bool:
    """Count sets that a paper describes in its text only to its first table."""
    return entry.table == number or (number == "1" and entry.table.startswith("text"))


def _logs(rows: Sequence[Entry]) -> Table:
    title = "k = 1 in the authors' own logs"
    note = (
        "No clustering at all: rows that the authors' logs hold and the paper leaves out. " + NOTE
    )
    body = [
        [*text_row(entry.dataset, entry.method, entry.item, entry.table), entry_cell(entry)]
        for entry in rows
    ]
    head = ("dataset", "method", "metric", "log", "score")
    return Table("authors_logs_k1", title, note, head, body, n_labels=4)


def _key(entry: Entry, names: str) -> tuple[str, ...]:
    return tuple(getattr(entry, name) for name in names.split())


def _table(name: str, paper: str, number: str, shape: Shape, rows: Sequence[Entry]) -> Table:
    down = list(dict.fromkeys(_key(entry, shape.rows) for entry in rows))
    across = list(dict.fromkeys(_key(entry, shape.columns) for entry in rows))
    cells = {(_key(e, shape.rows), _key(e, shape.columns)): entry_cell(e) for e in rows}
    used = [place for place in range(len(shape.rows.split())) if any(key[place] for key in down)]
    body = [
        [*text_row(*(key[place] for place in used))]
        + [cells.get((key, column), Cell("")) for column in across]
        for key in down
    ]
    head = [shape.rows.split()[place] for place in used]
    return Table(
        id=name,
        title=f"{PAPERS[paper]}, Table {number}: {shape.title}",
        note=NOTE,
        head=[*head, *(" ".join(column) for column in across)],
        rows=body,
        n_labels=len(head),
    )


def entry_cell(entry: Entry) -> Cell:
    """Return the cell that shows a ledger entry: printed, as published, sound."""
    return Cell(
        text=_with_sd(entry.printed, entry.printed_sd),
        published=_with_sd(entry.as_published, entry.as_published_sd),
        sound=_with_sd(entry.sound, entry.sound_sd),
        verdict=entry.verdict,
        link=entry.run,
    )


def _with_sd(value: str, sd: str) -> str:
    return f"{_short(value)} ± {_short(sd)}" if value and sd else _short(value)


def _short(value: str) -> str:
    """Round to three decimals, as the papers print; words and whole numbers stay."""
    try:
        number = float(value)
    except ValueError:
        return value
    return value if len(value.partition(".")[2]) <= 3 else f"{number:.3f}"
