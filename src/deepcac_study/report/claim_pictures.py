"""Where a reader sees what decided a claim: the paper's table beside ours, or a figure."""

import csv
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import NamedTuple

from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.evidence import CANNOT, FAILS, HOLDS, PARTLY, UNDECIDED
from deepcac_study.report.contents import Contents

_DECIDED = (HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED)
_MOST = 3
_NAMED = re.compile(r"\b(Table|Fig)s?\.? (\d+(?:[a-d]?(?:, | and | or |-)\d+)*)")
_HOME = {"answer": "index", "summary": "index"}  # shown on the first page


class Place(NamedTuple):
    """A table or figure of the report: what it is called, and its way from the report's folder."""

    text: str
    path: str


def places(shown: Contents) -> dict[str, Place]:
    """Return every table with rows and every figure, as ``table:id`` and ``figure:id``."""
    found = {}
    for page, tables in shown.tables.items():
        for table in tables:
            if table.rows:
                home = f"paper_{table.group}" if table.group else page
                title = table.title
                if table.group:  # the paper's year and authors stand beside it
                    paper = PAPERS[table.group]
                    title = title.replace(paper.citation, paper.label)
                found[f"table:{table.id}"] = Place(title, _way(home, f"table-{table.id}"))
    for page, figures in shown.figures.items():
        for one in figures:
            title = one.title.partition(" (as ")[0]
            found[f"figure:{one.id}"] = Place(f"Figure: {title}", _way(page, f"figure-{one.id}"))
    return found


def _way(page: str, anchor: str) -> str:
    home = _HOME.get(page)
    return f"{home}.html#{anchor}" if home else f"pages/{page}.html#{anchor}"


def deciding(claim: Claim, known: Mapping[str, Place]) -> tuple[Place, ...]:
    """Return what shows the numbers behind a claim's verdict; nothing where it is not decided.

    Parameters
    ----------
    claim : Claim
    known : mapping of str to Place
        Of `places`.
    """
    if claim.verdict not in _DECIDED and claim.as_published not in _DECIDED:
        return ()
    found: dict[str, Place] = {}
    for pattern in _patterns(claim):
        found |= _first(pattern, known)
    return tuple(found.values())[:_MOST]


def _first(pattern: str, known: Mapping[str, Place]) -> dict[str, Place]:
    name = next((name for name in known if fnmatchcase(name, pattern)), None)
    return {name: known[name]} if name else {}


def _patterns(claim: Claim) -> Iterator[str]:
    """Yield what is listed for the claim, then the tables and figures that its text names."""
    yield from _listed().get(claim.id, ())
    for kind, numbers in _NAMED.findall(f"{claim.how_to_check}; {claim.section}"):
        for number in re.findall(r"\d+", numbers):
            if kind == "Table":
                yield f"table:{claim.paper}_table{number}"
            else:
                yield from _listed().get(f"{claim.paper} {number}", ())


@cache
def _listed() -> dict[str, tuple[str, ...]]:
    """Return the patterns of ``deciding.csv`` by claim, or by paper and printed figure."""
    file = resources.files("deepcac_study.report") / "deciding.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return {row["key"]: tuple(row["shown"].split()) for row in rows}
