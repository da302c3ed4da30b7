"""Search what a command wrote for counts of one to seven patients, and for cells of single ones."""

import base64
import html
import re
from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

UNITS = (
    r"(?:rows?|patients?|events?|deaths?|cells?|values?|labels?|times|treated|controls?|at risk)"
)
_COUNT = re.compile(
    rf"(?<![\d.,%±/-])\b([1-7]|one|two|three|four|five|six|seven) (?:of (?:\d[\d,]*|the) )?{UNITS}\b"
)
_NEARLY = re.compile(rf"(?<![\d.,])(\d[\d,]*) of (\d[\d,]*) {UNITS}\b")
_COUNTED = r"(?:rows?|patients?|events?|deaths?|treated|controls?|at risk)"
_HEADS = re.compile(rf"^(?:n|size|sizes|missing|.*\b{_COUNTED})$", re.IGNORECASE)
_ROW = re.compile(r"\b(?:data )?rows? \d[\d,]*\b(?! (?:of|rows))")


class _Page(HTMLParser):
    """Collects the text outside of scripts, the rows of tables, and figures."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.figures: list[str] = []
        self._skipped = 0
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in ("script", "style")
        if tag == "table":
            self.tables.append([])
        if tag == "tr" and self.tables:
            self.tables[-1].append([])
        if tag in ("td", "th") and self.tables and self.tables[-1]:
            self.tables[-1][-1].append("")
            self._in_cell = True
        for _, value in attrs:
            if value and value.startswith("data:image/svg+xml;base64,"):
                self.figures.append(base64.b64decode(value.partition(",")[2]).decode())

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in ("script", "style")
        self._in_cell &= tag not in ("td", "th", "table")

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        self.text.append(data)
        if self._in_cell:
            self.tables[-1][-1][-1] += data.strip()


def page_tables(path: Path) -> list[list[list[str]]]:
    """Return the tables of a page: rows of cells, the head first; none of another file."""
    page = _Page()
    page.feed(path.read_text(encoding="utf-8") if path.suffix == ".html" else "")
    return [table for table in page.tables if table]


def lone_patients(path: Path, secrets: Collection[str] = ()) -> list[str]:
    """Return what a file tells of fewer than eight patients.

    Parameters
    ----------
    path : Path
        A page, a card (Markdown), a table (CSV) or JSON.
    secrets : collection of str
        Ids and cells that belong to fewer than eight patients.
    """
    whole = path.read_text(encoding="utf-8")
    page = _Page()
    page.feed(whole if path.suffix == ".html" else html.escape(whole))
    text = " ".join(page.text)
    searched = [text, *page.figures]
    told = [f"{secret!r}" for secret in secrets for part in searched if _holds(part, secret)]
    return told + counts_told(text) + [line for table in page.tables for line in _in_table(table)]


def counts_told(text: str) -> list[str]:
    """Return the counts of one to seven patients in a text, those that a total tells among them."""
    plain = re.sub(r"\s+", " ", text)
    told = [match[0] for match in _COUNT.finditer(plain)]
    for match in _NEARLY.finditer(plain):
        part, total = (int(match[j].replace(",", "")) for j in (1, 2))
        told += [match[0]] if 0 < total - part < 5 else []
    return told


def rows_told(text: str) -> list[str]:
    """Return the numbers of rows that a text names."""
    return _ROW.findall(text)


def _holds(text: str, secret: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(secret)}(?![\w])(?!\.\d)", text) is not None


def _in_table(table: list[list[str]]) -> list[str]:
    """Return cells of a table that count one to seven patients, by their head."""
    head, *rows = [row for row in table if row] or [[]]
    counted = [j for j, name in enumerate(head) if _HEADS.match(name.strip())]
    return [
        f"{head[j]}: {row[j]}"
        for row in rows
        for j in counted
        if j < len(row) and re.fullmatch(r"[1-7](?: \(.*\))?", row[j].strip())
    ]
