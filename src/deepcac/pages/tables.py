"""Tables as data, declared once by their columns, and as CSV, Markdown, LaTeX and HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_csv
from deepcac.scoring.small_cells import Rule

# How a cell comes from a record: its field, a field and how it is written, or a function.
How = str | tuple[str, Callable[[Any], object]] | Callable[[Any], object]
_MARKS = {"agree": "✓", "differ": "✗"}
_LATEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"±": r"$\pm$", "✓": r"\checkmark{}", "✗": r"$\times$", "–": "--", "−": "$-$"},
    **{"▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "∞": r"$\infty$"},
    **{"µ": r"$\mu$", "²": "$^2$", "³": "$^3$", "°": r"$^\circ$", "≥": r"$\ge$"},
    **{"≤": r"$\le$", "α": r"$\alpha$", "β": r"$\beta$"},
}


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
        What it says, or the printed value in a comparison.
    published, sound : str
        Our values in a comparison; empty elsewhere.
    verdict : str
        Verdict in a comparison; empty elsewhere.
    link : str
        The run that decides, relative to the project's folder.
    difference : str
        Of the deciding number from the printed one, in a comparison.
    links : sequence of (str, str)
        Several texts with their ways from the report's folder, in place of the text on a page.
    """

    text: str
    published: str = ""
    sound: str = ""
    verdict: str = ""
    link: str = ""
    difference: str = ""
    links: Sequence[tuple[str, str]] = ()

    @property
    def compares(self) -> bool:
        """Whether the cell holds a published value next to ours."""
        return bool(self.verdict)

    def inline(self) -> str:
        """Return the cell as one line of text."""
        if not self.compares:
            return self.text
        values = f"{self.text or '–'} | {self.published or '–'} | {self.sound or '–'}"
        if self.published or self.sound:
            return f"{values} {_MARKS.get(self.verdict, '')}".strip()
        return f"{self.text or '–'} ({self.verdict})"


@dataclass(frozen=True)
class Table:
    """A table in the shape it is shown in.

    Attributes
    ----------
    id : str
        File name without its ending.
    title, note : str
        Heading, and what a reader must know to read it.
    head : sequence of str
        Column names; the first `n_labels` columns are row labels.
    rows : sequence of sequence of Cell
        As many cells a row as there are columns.
    n_labels : int
        Number of label columns.
    verdict : str
        The column that the page shows first, as a verdict; empty where there is none.
    filters : sequence of str
        Columns whose values a reader can choose among.
    group : str
        The paper that printed it, by its key; empty elsewhere.
    mixed : bool
        Whether a column holds numbers of several kinds, which need other decimals.
    as_given : bool
        Whether its heads may be names of a user's table, which are not put in other words.
    folded : sequence of str
        Columns that a row of the page shows only when it is opened; the files hold them all.
    kept : sequence of str
        Columns that stay on a page too narrow for all of them; by default the first two.
    """

    id: str
    title: str
    note: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    n_labels: int = 1
    verdict: str = ""
    filters: Sequence[str] = ()
    group: str = ""
    mixed: bool = False
    as_given: bool = False
    folded: Sequence[str] = ()
    kept: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        records: "pd.DataFrame | Iterable[Any]",
        columns: Mapping[str, How] | Sequence[tuple[str, How]],
        *,
        id: str = "",
        title: str = "",
        note: str = "",
        **shown: Any,
    ) -> "Table":
        """Return the table that its columns make of records.

        Parameters
        ----------
        records : DataFrame or iterable
            A row each: a mapping, an object with fields, or whatever the columns' functions take.
        columns : mapping of str to How, or sequence of (str, How)
            Name and origin of each column; a function may return a `Cell`.
        id, title, note : str
            As in the table.
        **shown
            Its other attributes.
        """
        named = list(columns.items()) if isinstance(columns, Mapping) else list(columns)
        entries = records.to_dict("records") if isinstance(records, pd.DataFrame) else records
        rows = [[_cell(record, how) for _, how in named] for record in entries]
        return cls(id, title, note, [str(name) for name, _ in named], rows, **shown)

    @classmethod
    def of_texts(
        cls, id: str, title: str, head: Sequence[str], rows: Iterable[Sequence[str]], **shown: Any
    ) -> "Table":
        """Return the table of texts, which are shown as they are; `shown` as in `of`."""
        cells = [text_row(*row) for row in rows]
        return cls(id, title, "", head, cells, mixed=True, as_given=True, **shown)

    def under(self, rule: Rule) -> "Table":
        """Return the table of plain text, with its counts as a rule has them."""
        rows = [[replace(cell, text=rule.show(cell.text)) for cell in row] for row in self.rows]
        return replace(self, head=list(map(rule.show, self.head)), rows=rows)

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The texts of its rows."""
        return [tuple(cell.text for cell in row) for row in self.rows]


def _cell(record: Any, how: How) -> Cell:
    if callable(how):
        value = how(record)
    else:
        name, write = (how, None) if isinstance(how, str) else how
        value = record[name] if isinstance(record, Mapping) else getattr(record, name)
        value = write(value) if write else value
    return value if isinstance(value, Cell) else text_row(value)[0]


def text_row(*values: object) -> list[Cell]:
    """Return a row of plain cells; a text with counts of patients stays one."""
    texts = ("" if value is None else value for value in values)
    return [Cell(text if isinstance(text, str) else str(text)) for text in texts]


def write(table: Table, folder: Path) -> None:
    """Write a table as ``folder/id.csv``, ``.md`` and ``.tex``."""
    _write_csv(table, folder / f"{table.id}.csv")
    for name, text in ((".md", markdown(table)), (".tex", latex(table))):
        with atomic_path(folder / f"{table.id}{name}") as partial:
            partial.write_text(text, encoding="utf-8")


def _write_csv(table: Table, path: Path) -> None:
    comparing = [
        any(row[column].compares for row in table.rows) for column in range(len(table.head))
    ]
    head: list[str] = []
    for name, several in zip(table.head, comparing, strict=True):
        parts = ("printed", "as published", "sound", "verdict")
        head += [f"{name} {part}" for part in parts] if several else [name]
    lines: list[list[str]] = []
    for row in table.rows:
        line: list[str] = []
        for cell, several in zip(row, comparing, strict=True):
            line += [cell.text, *((cell.published, cell.sound, cell.verdict) if several else ())]
        lines.append(line)
    write_csv(path, head, lines)


def markdown(table: Table) -> str:
    """Return the table as GitHub Markdown with its title and note."""
    return "\n".join([f"**{_markdown(table.title)}**", "", _markdown(table.note), "", grid(table)])


def grid(table: Table, written: Callable[[str], str] | None = None) -> str:
    """Return the table alone as GitHub Markdown; `written` is how a cell is escaped."""
    written = written or _markdown
    rule = ["---"] * table.n_labels + ["---:"] * (len(table.head) - table.n_labels)
    body = ([written(cell.inline()) for cell in row] for row in table.rows)
    lines = ([written(name) for name in table.head], rule, *body)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _markdown(text: str) -> str:
    """Return text as one line without HTML; a cell ends only at its own bar."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def latex(table: Table) -> str:
    """Return the table as a LaTeX ``tabular`` (booktabs; amssymb for the check mark)."""
    body = [" & ".join(escape(cell.inline()) for cell in row) + r" \\" for row in table.rows]
    columns = "l" * table.n_labels + "r" * (len(table.head) - table.n_labels)
    return "\n".join(
        [
            f"% {table.title}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(escape(name) for name in table.head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escape(text: str) -> str:
    """Return text with LaTeX's special characters made plain."""
    return "".join(_LATEX.get(letter, letter) for letter in text)
