"""The papers' tables in their own shape, each cell beside our numbers."""

from collections.abc import Sequence

from deepcac.pages.tables import Cell, Table, text_row
from deepcac_study.papers.bibliography import PAPERS, Paper, PrintedTable
from deepcac_study.papers.ledger import Entry

NOTE = (
    "Each cell: printed | ours as published | ours sound. ✓ agrees (within 2 combined standard "
    "deviations and 0.02; within 0.005 where our run has the paper's own split), ✗ differs; the "
    "mark belongs to the run of the cell's own protocol."
)


def paper_tables(ledger: Sequence[Entry]) -> list[Table]:
    """Return every printed table, filled from the ledger.

    Summary rows and columns of CAC v1's tables follow as tables of their own.
    """
    tables = [
        _table(paper, printed, [e for e in ledger if _in_table(e, paper, printed)])
        for paper in PAPERS.values()
        for printed in sorted(paper.tables, key=lambda one: (one.kind == "summary", one.number))
    ]
    return [*tables, _logs([e for e in ledger if e.kind == "log"])]


def _in_table(entry: Entry, paper: Paper, printed: PrintedTable) -> bool:
    """Count sets that a paper describes in its text only to its first table."""
    if (entry.paper, entry.kind) != (paper.key, printed.kind):
        return False
    in_text = printed.number == "1" and entry.table.startswith("text")
    return entry.table == printed.number or in_text


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


def _table(paper: Paper, printed: PrintedTable, rows: Sequence[Entry]) -> Table:
    down = list(dict.fromkeys(_key(entry, printed.rows) for entry in rows))
    across = list(dict.fromkeys(_key(entry, printed.columns) for entry in rows))
    cells = {(_key(e, printed.rows), _key(e, printed.columns)): entry_cell(e) for e in rows}
    used = [place for place in range(len(printed.rows.split())) if any(key[place] for key in down)]
    body = [
        [*text_row(*(key[place] for place in used))]
        + [cells.get((key, column), Cell("")) for column in across]
        for key in down
    ]
    head = [printed.rows.split()[place] for place in used]
    suffix = "_summary" if printed.kind == "summary" else ""
    return Table(
        id=f"{paper.key}_table{printed.number}{suffix}",
        title=f"{paper.citation}, Table {printed.number}: {printed.title}",
        note=NOTE,
        head=[*head, *(" ".join(column) for column in across)],
        rows=body,
        n_labels=len(head),
        group=paper.key,
    )


def entry_cell(entry: Entry) -> Cell:
    """Return the cell that shows a ledger entry: printed, as published, sound."""
    return Cell(
        text=_with_sd(entry.printed, entry.printed_sd),
        published=_with_sd(entry.as_published, entry.as_published_sd),
        sound=_with_sd(entry.sound, entry.sound_sd),
        verdict=entry.verdict,
        link=entry.run,
        difference=_short(entry.difference),
    )


def _with_sd(value: str, sd: str) -> str:
    return f"{_short(value)} ± {_short(sd)}" if value and sd else _short(value)


def _short(value: str) -> str:
    """Write three decimals, as the papers print scores; words and whole numbers stay."""
    try:
        number = float(value)
    except ValueError:
        return value
    sign = "+" if value.startswith("+") else ""
    decimals = len(value.partition(".")[2])
    even = decimals > 3 or (decimals and abs(number) <= 1)
    return f"{number:{sign}.3f}" if even else value
