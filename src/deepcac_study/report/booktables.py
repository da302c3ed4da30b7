"""The ledger and the claims as tables of the page."""

from collections.abc import Mapping, Sequence

from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.wording import people
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.ledger import Entry
from deepcac_study.report.claim_pictures import Place, deciding

_FIXED = 3  # decimals of a score, as the papers print


def ledger_table(ledger: Sequence[Entry], name: str = "ledger") -> Table:
    """Return a row for each printed cell."""
    return Table(
        id=name,
        title="Ledger",
        note="",
        head=(
            *("verdict", "paper", "table", "data set", "method", "k", "item", "printed"),
            *("as published", "sound", "difference", "within", "sound verdict", "needs"),
            *("run that decides", "follows from", "note"),
        ),
        rows=[_entry_row(entry) for entry in ledger],
        n_labels=0,
        verdict="verdict",
        filters=("verdict", "paper", "table", "data set", "method"),
        mixed=True,
    )


def _entry_row(entry: Entry) -> list[Cell]:
    score = entry.kind in ("score", "log")
    ours = [
        _spread(_fixed(value, score), _fixed(sd, score))
        for value, sd in (
            (entry.as_published, entry.as_published_sd),
            (entry.sound, entry.sound_sd),
        )
    ]
    return [
        *text_row(entry.verdict, _paper(entry), entry.table, entry.dataset),
        *text_row(entry.method, entry.k, people(entry.item)),
        *text_row(_spread(_fixed(entry.printed, score), entry.printed_sd), *ours),
        *text_row(_fixed(entry.difference, score), entry.bound, entry.sound_verdict, entry.needs),
        Cell(entry.run, link=entry.run if entry.run.startswith("results/") else ""),
        *text_row(entry.derived, entry.note),
    ]


def _paper(entry: Entry) -> str:
    """Return the paper's name; the authors' logs are no paper."""
    return PAPERS[entry.paper].label if entry.paper in PAPERS else f"{entry.paper}' logs"


def _spread(value: str, sd: str) -> str:
    return f"{value} ± {sd}" if value and sd else value


def _fixed(value: str, score: bool) -> str:
    """Return a score with three decimals, one in per cent with two; what is no number stays."""
    try:
        number = float(value)
    except ValueError:
        return value
    if not score:
        return value
    digits = _FIXED if abs(number) <= 1 else _FIXED - 1
    return f"{number:+.{digits}f}" if value[0] in "+-" else f"{number:.{digits}f}"


def claims_table(
    claims: Sequence[Claim], name: str = "claims", known: Mapping[str, Place] | None = None
) -> Table:
    """Return a row for each claim, with what decided it among the known tables and figures."""
    shown = {claim.id: deciding(claim, known or {}) for claim in claims}
    return Table(
        id=name,
        title="Claims",
        note="",
        head=(
            *("verdict", "id", "paper", "kind", "claim", "reason", "decided by", "as published"),
            *("reason as published", "the paper's own numbers", "runs", "same as"),
        ),
        rows=[
            [
                *text_row(claim.verdict, claim.id, PAPERS[claim.paper].label, claim.kind),
                *text_row(claim.claim, claim.reason),
                Cell("; ".join(place.text for place in shown[claim.id]), links=shown[claim.id]),
                *text_row(claim.as_published, claim.as_published_reason),
                *text_row(claim.own_numbers, claim.runs, claim.same_as),
            ]
            for claim in claims
        ],
        n_labels=0,
        verdict="verdict",
        filters=("verdict", "paper", "kind", "as published"),
    )
