"""The papers' tables, in the printed layout with our numbers; the ledger, claims and theorems."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.wording import people
from deepcac_study.papers.agreement import NOT_PRINTED
from deepcac_study.papers.bibliography import PAPERS, Paper, PrintedTable
from deepcac_study.papers.claim_verdicts import CANNOT, FAILS, HOLDS, PARTLY, UNDECIDED
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.ledger import number, standing
from deepcac_study.papers.names import UNKNOWN, names
from deepcac_study.records.theorem_checks import CURVED, TheoryRecord, checks
from deepcac_study.report.declarations import declared_table, rows_of

NOTE = (
    "Each cell: printed | ours as published | ours under the corrected protocol. ✓ agrees (within "
    "2 combined standard deviations and 0.02; within 0.005 where our run has the paper's own "
    "split), ✗ differs; the mark belongs to the run of the cell's own protocol."
)
OF_CLASSES = (
    " AUPRC and AUROC are means over the classes in all three numbers, as DeepCAC prints them. The "
    "AUPRC of the positive class, which decides claims under the corrected protocol, is in the "
    "ledger's notes."
)
_DECIDED = (HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED)
INDEPENDENT = "independent"
_MOST = 3
_NAMED = re.compile(r"\b(Table|Fig)s?\.? (\d+(?:[a-d]?(?:, | and | or |-)\d+)*)")
_FIXED = 3  # decimals of a score, as the papers print


class Place(NamedTuple):
    """A table or figure of the report: its name, and its path from the report's folder."""

    text: str
    path: str


def paper_tables(ledger: Sequence[Entry]) -> list[Table]:
    """Return every printed table, filled from the ledger.

    Summary rows and columns of CAC v1's tables become separate tables.
    """
    tables = [
        _table(paper, printed, [e for e in ledger if _in_table(e, paper, printed)])
        for paper in PAPERS.values()
        for printed in sorted(
            paper.tables, key=lambda entry: (entry.kind == "summary", entry.number)
        )
    ]
    return [*tables, _logs([e for e in ledger if e.kind == "log"])]


def _in_table(entry: Entry, paper: Paper, printed: PrintedTable) -> bool:
    """Return whether an entry is in a table; those from a paper's text go with its first one."""
    if (entry.paper, entry.kind) != (paper.key, printed.kind):
        return False
    in_text = printed.number == "1" and entry.table.startswith("text")
    return entry.table == printed.number or in_text


def _logs(rows: Sequence[Entry]) -> Table:
    body = [
        [*text_row(entry.dataset, entry.method, entry.item, entry.table), entry_cell(entry)]
        for entry in rows
    ]
    return declared_table("authors_logs_k1", body, note=NOTE)


def _key(entry: Entry, names: str) -> tuple[str, ...]:
    """Return the fields of an entry that are named in `names`."""
    return tuple(getattr(entry, name) for name in names.split())


def _table(paper: Paper, printed: PrintedTable, rows: Sequence[Entry]) -> Table:
    """Return a printed table refilled: its rows and columns, with entries as cells."""
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
    columns = [" ".join(column) for column in across]
    own = [column for column in columns if column in paper.methods]
    return Table(
        id=f"{paper.key}_table{printed.number}{suffix}",
        title=f"{paper.citation}, Table {printed.number}: {printed.title}",
        note=NOTE + OF_CLASSES * printed.averaged,
        head=[*head, *columns],
        rows=body,
        n_labels=len(head),
        group=paper.key,
        kept=[*head, *own] if own else (),
    )


def entry_cell(entry: Entry) -> Cell:
    """Return a cell with the numbers of an entry: printed, as published, sound."""
    return Cell(
        text=_spread(_short(entry.printed_value, entry.printed), _short(entry.printed_sd)),
        published=_spread(_short(entry.as_published), _short(entry.as_published_sd)),
        sound=_spread(_short(entry.sound), _short(entry.sound_sd)),
        verdict=standing(entry),
        link=entry.run,
        difference=_short(entry.difference, number(entry.difference, signed=True)),
    )


def _short(value: float | None, text: str | None = None) -> str:
    """Format with three decimals, as papers print scores; words and integers are kept as text."""
    text = number(value) if text is None else text
    decimals = len(text.partition(".")[2])
    if value is None or not (decimals > _FIXED or (decimals and abs(value) <= 1)):
        return text
    return f"{value:{text[0] if text[0] == '+' else ''}.{_FIXED}f}"


def ledger_table(ledger: Sequence[Entry]) -> Table:
    """Return the ledger as a table, one row per printed cell."""
    return declared_table("ledger", [_entry_row(entry) for entry in ledger])


def _entry_row(entry: Entry) -> list[Cell]:
    score = entry.kind in ("score", "log")
    pairs = (entry.as_published, entry.as_published_sd), (entry.sound, entry.sound_sd)
    published, sound = (_spread(_fixed(mean, score), _fixed(sd, score)) for mean, sd in pairs)
    printed = _fixed(entry.printed_value, score, entry.printed)
    difference = _fixed(entry.difference, score, number(entry.difference, signed=True))
    ours, other = (sound, published) if entry.decided_by == "sound" else (published, sound)
    logs = f"{entry.paper}' logs"  # of the authors, which are no paper
    paper = PAPERS[entry.paper].label if entry.paper in PAPERS else logs
    dataset = names().get(("dataset", entry.paper, entry.dataset), UNKNOWN).id or entry.dataset
    return [
        *text_row(standing(entry), paper, _where(entry), dataset),
        *text_row(entry.method, entry.k, people(entry.item)),
        *text_row(_spread(printed, number(entry.printed_sd)), ours, difference),
        *text_row(entry.dataset if entry.dataset != dataset else "", people(entry.decided_by)),
        *text_row(other, number(entry.bound), entry.sound_verdict, entry.needs),
        Cell(entry.run, link=entry.run if entry.run.startswith("results/") else ""),
        *text_row(counted_as(entry), entry.note),
    ]


def counted_as(entry: Entry) -> str:
    """Return "independent" for an entry that counts, else the reason why it does not."""
    if entry.kind == "log":
        return "the authors' logs"
    return entry.derived or (entry.verdict if entry.verdict == NOT_PRINTED else INDEPENDENT)


def _where(entry: Entry) -> str:
    """Return the printed table of an entry, or the method of an authors' log."""
    if entry.kind == "log":
        return entry.table.partition(":results_")[2].partition(".")[0]
    return f"Table {entry.table}" if entry.table[:1].isdigit() else entry.table


def _spread(value: str, sd: str) -> str:
    return f"{value} ± {sd}" if value and sd else value


def _fixed(value: float | None, score: bool, text: str | None = None) -> str:
    """Format a score with three decimals, a percentage with two; anything else is kept as text."""
    text = number(value) if text is None else text
    if value is None or not score:
        return text
    return (
        f"{value:{text[0] if text[0] == '+' else ''}.{_FIXED if abs(value) <= 1 else _FIXED - 1}f}"
    )


def claims_table(
    claims: Sequence[Claim], name: str = "claims", places: Mapping[str, Place] | None = None
) -> Table:
    """Return a table of the claims, with links to the tables and figures that decided them."""
    shown = {claim.id: deciding(claim, places or {}) for claim in claims}
    return declared_table(
        "claims",
        [
            [
                *text_row(claim.verdict, claim.claim, claim.id, PAPERS[claim.paper].label),
                *text_row(claim.section, f"“{claim.quote}”" if claim.quote else "", claim.reason),
                *text_row(claim.kind),
                Cell("; ".join(place.text for place in shown[claim.id]), links=shown[claim.id]),
                *text_row(claim.as_published, claim.as_published_reason),
                *text_row(claim.own_numbers, claim.how_to_check, claim.runs, claim.same_as),
            ]
            for claim in claims
        ],
        name=name,
    )


def deciding(claim: Claim, places: Mapping[str, Place]) -> tuple[Place, ...]:
    """Return the tables and figures behind a claim's verdict; empty if it is not decided."""
    if claim.verdict not in _DECIDED and claim.as_published not in _DECIDED:
        return ()
    matches = (
        next((n for n in places if fnmatchcase(n, pattern)), "") for pattern in _patterns(claim)
    )
    return tuple(places[name] for name in dict.fromkeys(matches) if name)[:_MOST]


def _patterns(claim: Claim) -> Iterator[str]:
    """Yield the patterns listed for a claim, then the tables and figures named in its text."""
    yield from _listed().get(claim.id, ())
    for kind, listed in _NAMED.findall(f"{claim.how_to_check}; {claim.section}"):
        for place in re.findall(r"\d+", listed):
            if kind == "Table":
                yield f"table:{claim.paper}_table{place}"
            else:
                yield from figure_patterns(claim.paper, place)


def figure_patterns(paper: str, number: str) -> tuple[str, ...]:
    """Return the patterns of our figures for a printed one, as ``figure:id``."""
    return _listed().get(f"{paper} {number}", ())


@cache
def _listed() -> dict[str, tuple[str, ...]]:
    """Return the patterns of ``deciding.csv`` by claim, or by paper and printed figure."""
    return {row["key"]: tuple(row["shown"].split()) for row in rows_of("deciding.csv")}


def theory_tables(records: Sequence[TheoryRecord], name: str = "theory") -> list[Table]:
    """Return a table of all inequalities; [] without a record."""
    if not records:
        return []
    rows = [
        text_row(
            record.name,
            check.bound,
            check.part,
            *(_side(side) for side in (check.left, check.value, check.right)),
            "yes" if check.holds else "no",
        )
        for record in records
        for check in checks(record)
    ]
    words = {"limit": 1 + CURVED, "alpha": records[0].record["alpha"]}
    return [declared_table("theory", rows, name=name, **words)]


def _side(value: float | None) -> str:
    """Return a number of four digits, whole from ten thousand on."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
