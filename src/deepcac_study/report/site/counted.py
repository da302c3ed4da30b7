"""How many printed values agree and how many claims hold, counted by one basis on every page."""

from collections.abc import Sequence

from deepcac.pages.tables import Cell, Table, text_row
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.summary import ALL, Count, value
from deepcac_study.report.declarations import declared_table

_VALUES = ("agree", "differ", "not_run", "needs_access", "not_rebuildable", "settings")
_CLAIMS = ("holds", "partly", "fails", "cannot_hold")


def values_table(counts: Sequence[Count]) -> Table:
    """Return what became of the printed values of each paper that count by themselves."""
    rows = [
        [
            _name(paper),
            *text_row(*(_count(counts, "cells", name, paper) for name in _VALUES)),
            *text_row(_count(counts, "cells", "no_score", paper) or ""),
            *text_row(_count(counts, "cells", "printed", paper)),
            *text_row(_count(counts, "cells", "printed", paper, "derived")),
        ]
        for paper in (*PAPERS, ALL)
    ]
    return declared_table("counted_values", rows)


def claims_by_paper(counts: Sequence[Count]) -> Table:
    """Return what became of the claims of each paper, by the corrected protocol."""
    rows = []
    for paper in (*PAPERS, ALL):
        made, *decided = (_count(counts, "claims", name, paper) for name in ("claims", *_CLAIMS))
        published = _count(counts, "claims", "holds", paper, "as_published")
        rows.append(
            [_name(paper), *text_row(*decided, made - sum(decided), made), *text_row(published)]
        )
    return declared_table("counted_claims", rows)


def protocols_in_words(ledger: Sequence[Entry]) -> str:
    """Say by which protocol printed values and claims are decided; empty before the first run."""
    decided = [
        entry.decided_by
        for entry in ledger
        if entry.verdict in (AGREE, DIFFER) and entry.paper in PAPERS and not entry.derived
    ]
    if not decided:
        return ""
    corrected = decided.count("sound")
    return (
        "Each printed value is compared with the one run that repeats how it was printed: "
        f"{len(decided) - corrected:,} with runs as published, {corrected:,} with runs under the "
        "corrected protocol. Claims are decided under the corrected protocol; the verdict as "
        "published stands beside each."
    )


def _name(paper: str) -> Cell:
    if paper == ALL:
        return Cell("all five papers")
    label = PAPERS[paper].citation
    return Cell(label, links=[(label, f"pages/paper_{paper}.html")])


def _count(counts: Sequence[Count], part: str, name: str, paper: str, group: str = "") -> int:
    return round(value(counts, part, name, paper=paper, group=group))
