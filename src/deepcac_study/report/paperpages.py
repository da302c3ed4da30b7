"""One page a paper: its tables beside ours, its claims, and what its program did otherwise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS, Paper
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.evidence import VERDICTS
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.summary import in_words
from deepcac_study.report.booktables import claims_table
from deepcac_study.report.claim_pictures import Place, places
from deepcac_study.report.contents import Contents
from deepcac_study.report.switch_sentences import switch_sentences, touching


@dataclass(frozen=True)
class PaperPage:
    """What the page of one paper shows.

    Attributes
    ----------
    paper : Paper
    cells, claimed : str
        How its printed cells and its claims fared, each a sentence.
    tables : list of Table
        In the paper's shape.
    claims, switches : Table
    effects : list of str
        What its program did otherwise and what came of it, in sentences.
    figures : list of Figure
        Those that decide its claims.
    """

    paper: Paper
    cells: str
    claimed: str
    tables: list[Table]
    claims: Table
    switches: Table
    effects: list[str]
    figures: list[Figure]


def paper_pages(shown: Contents) -> list[PaperPage]:
    """Return the page of every paper."""
    known = places(shown)
    return [_page(paper, shown, known) for paper in PAPERS.values()]


def _page(paper: Paper, shown: Contents, known: Mapping[str, Place]) -> PaperPage:
    ledger = [e for e in shown.ledger if e.paper == paper.key]
    claims = [claim for claim in shown.claims if claim.paper == paper.key]
    return PaperPage(
        paper=paper,
        cells=_of_cells(ledger),
        claimed=_of_claims(claims),
        tables=[t for t in shown.tables["papers"] if t.group == paper.key],
        claims=claims_table(claims, f"claims_{paper.key}", known),
        switches=_switches(paper, shown.tables["switches"][0]),
        effects=switch_sentences(touching(paper.key), shown.switched),
        figures=[f for section in paper.pictures for f in shown.figures.get(section, ())][:4],
    )


def _of_cells(ledger: Sequence[Entry]) -> str:
    printed = [entry.verdict for entry in ledger if entry.kind != "log"]
    agree, differ = printed.count(AGREE), printed.count(DIFFER)
    if not agree + differ:
        return f"None of its {len(printed):,} printed cells has been run."
    return f"{agree:,} of {agree + differ:,} printed cells agree; {len(printed):,} are printed."


def _of_claims(claims: Sequence[Claim]) -> str:
    found = Counter(claim.verdict for claim in claims)
    counts = {name: found[verdict] for name, verdict in VERDICTS.items()} | {"claims": len(claims)}
    return f"Of its {len(claims)} claims {in_words(counts)}."


def _switches(paper: Paper, table: Table) -> Table:
    """Return the rows of the switches that touch a printed table of the paper."""
    labels = {one.label for one in touching(paper.key)}
    rows = [row for row in table.rows if row[0].text in labels]
    return Table(
        id=f"switches_{paper.key}",
        title=f"Switches of {paper.label}",
        note="",
        head=table.head,
        rows=rows,
        filters=("data set", "metric"),
    )
