"""The page's templates, and a table as they show it: verdict first, numbers for people."""

import base64
import posixpath
import re
from dataclasses import dataclass

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from deepcac.pages.figures import Figure, as_svg
from deepcac.pages.sections import contents, kind
from deepcac.pages.tables import Cell, Table
from deepcac.pages.wording import even_decimals, mark, minus, people, thousands, tone
from deepcac.scoring.small_cells import WITHHELD

_LONG = 40
_SHORT = 14  # letters of a name that is not broken
# A number with its sign, spread, share or unit of time; no other word.
_NUMBER = re.compile(r"[<>≤]?\s*[+−]?[\d.,]+(e[+\-−]?\d+)?( ± [\d.,]+| %| s)?")


@dataclass(frozen=True)
class ShownCell:
    """One cell, ready for the page; `kind` decides how it is written."""

    kind: str
    text: str
    cell: Cell


@dataclass(frozen=True)
class View:
    """A table, ready for the page.

    Attributes
    ----------
    table : Table
    head : tuple of str
        Column names for people, the verdict first.
    rows : tuple of tuple of ShownCell
    filters : tuple of int
        Columns that get a choice of their values.
    numeric : tuple of bool
        Whether a column holds only numbers, which stand below each other.
    folded : tuple of bool
        Whether a column is shown only where its row is opened.
    kept : tuple of bool
        Whether a column stays on a narrow page.
    """

    table: Table
    head: tuple[str, ...]
    rows: tuple[tuple[ShownCell, ...], ...]
    filters: tuple[int, ...]
    numeric: tuple[bool, ...] = ()
    folded: tuple[bool, ...] = ()
    kept: tuple[bool, ...] = ()


def view(table: Table) -> View:
    """Return what the page shows of a table."""
    order = _order(table)
    columns = [_column(table, place) for place in order]
    rows = tuple(zip(*columns, strict=True)) if table.rows else ()
    head = [str(table.head[place]) for place in order]
    return View(
        table=table,
        head=tuple(name if table.as_given else people(name) for name in head),
        rows=rows,
        filters=tuple(place for place, name in enumerate(head) if name in table.filters),
        numeric=tuple({cell.kind for cell in column} == {"number"} for column in columns),
        folded=tuple(name in table.folded for name in head),
        kept=tuple(name in table.kept for name in head),
    )


def _order(table: Table) -> list[int]:
    """Return the columns that are shown: the verdict first, none that is empty in every row."""
    filled = [any(map(_says, column)) for column in zip(*table.rows, strict=True)]
    places = [place for place in range(len(table.head)) if not filled or filled[place]]
    if table.verdict in table.head:
        place = list(table.head).index(table.verdict)
        return [place, *(other for other in places if other != place)]
    return places


def _says(cell: Cell) -> bool:
    return bool(cell.text or cell.compares or cell.links)


def _column(table: Table, place: int) -> list[ShownCell]:
    cells = [row[place] for row in table.rows]
    plain = [cell.text for cell in cells]
    label = place < table.n_labels
    texts = plain if table.mixed else thousands(even_decimals(plain))
    if not (label and table.mixed):  # which may be a name that somebody gave
        texts = [minus(text) for text in texts]
    verdict = table.head[place] == table.verdict and bool(table.verdict)
    filled = [text for text in texts if text and text != WITHHELD]
    numbers = all(map(_NUMBER.fullmatch, filled)) and (bool(filled) or not any(texts))
    return [
        ShownCell(
            _kind(cell, text, verdict=verdict, label=label, numbers=numbers),
            text,
            cell,
        )
        for cell, text in zip(cells, texts, strict=True)
    ]


def _kind(cell: Cell, text: str, *, verdict: bool, label: bool, numbers: bool) -> str:
    if verdict:
        return "verdict"
    if cell.compares:
        return "compared"
    if label:
        return "label"
    if cell.links:
        return "links"
    if text.startswith("results/") or (len(text) > _LONG and " " not in text):
        return "path"
    if len(text) > _LONG:
        return "words"
    if numbers:
        return "number"
    return "short" if len(text) <= _SHORT else "plain"


def environment(package: str) -> Environment:
    """Return the environment of a package's templates, with the page's style, script and filters.

    Parameters
    ----------
    package : str
        Whose folder ``templates`` is searched first.
    """
    loader = ChoiceLoader([PackageLoader(package), PackageLoader("deepcac.pages")])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Style and script are files of the library; everything else on the page is escaped.
    for name in ("style.css", "page.js"):
        text, _, _ = loader.get_source(made, name)
        made.globals[name.partition(".")[0]] = Markup(text)
    made.filters |= {"tone": tone, "mark": mark, "people": people, "minus": minus, "view": view}
    made.filters |= {"kind": kind, "contents": contents, "address": _address}
    made.globals["from_page"] = _from_page
    # Of a page of one file: its figures are in it, and no file of a table is next to it.
    made.globals |= {"embedded": False, "up": "", "written": (), "synonyms": ()}
    return made


def _address(figure: Figure) -> str:
    """Return a figure as an address that needs no file."""
    coded = base64.b64encode(as_svg(figure).encode()).decode()
    return f"data:image/svg+xml;base64,{coded}"


def _from_page(path: str, up: str = "") -> str:
    """Return the way to a run from the report's folder, or from one below it (`up`)."""
    return up + posixpath.relpath(path, "results/report")
