"""Short ways to a printed cell, a ledger entry and the verdicts on claims, for tests."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deepcac_study.papers.claim_verdicts import Decision
from deepcac_study.papers.claims import Claim, claims
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.ledger import entries
from deepcac_study.papers.printed import PrintedCell, printed_cells
from deepcac_study.papers.rules import query
from deepcac_study.papers.tabulate import tabulate
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs, load


def find_cell(source: str, **where: Any) -> PrintedCell:
    """Return the one printed cell of a file of facts that fits."""
    found = [cell for cell in printed_cells() if cell.source == source]
    (one,) = [c for c in found if all(getattr(c, key) == value for key, value in where.items())]
    return one


def find_entry(runs: Runs, **where: str) -> Entry:
    """Return the one ledger entry that fits."""
    found = entries(Findings(runs))
    (one,) = [e for e in found if all(getattr(e, key) == value for key, value in where.items())]
    return one


def decide(paths: Iterable[Path], root: Path) -> dict[str, Claim]:
    """Return every claim as decided on the runs at `paths`, by id."""
    found = Findings(load(paths, root))
    return {claim.id: claim for claim in claims(found, entries(found))}


def verdicts(paths: Iterable[Path], root: Path) -> dict[str, tuple[str, str]]:
    """Return the sound and the as published verdict of every claim, by id."""
    return {name: (c.verdict, c.as_published) for name, c in decide(paths, root).items()}


def evidence(findings: Findings, protocol: str = "sound", ledger: Iterable[Entry] = ()) -> Evidence:
    """Return what was found, as the rules look at it."""
    return Evidence(tabulate(findings), protocol, tuple(ledger))


def ask(claim: str, findings: Findings, protocol: str = "sound") -> Decision:
    """Return the decision on one claim, without a ledger."""
    return query.decide(claim, evidence(findings, protocol))
