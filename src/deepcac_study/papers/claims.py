"""Verdicts on the papers' claims, each by its rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claim_verdicts import (
    CANNOT,
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    TOY,
    UNDECIDED,
    Decision,
)
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.rules.query import decide
from deepcac_study.papers.tabulate import tabulate
from deepcac_study.records.reader import Findings

# What a claim is about, and how its verdict is found.
KINDS = {
    "print": "arithmetic on published values, or theory: no run is needed",
    "algorithm": "what an algorithm does, costs or guarantees",
    "prediction": "the paper's method predicts, or clusters, better",
    "comparison": "any other comparison: settings, data, times, other methods",
}
_DECIDED = (HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED)


@dataclass(frozen=True)
class Claim:
    """A claim and the verdicts on it.

    Fields without a comment are from ``claims.csv``.
    """

    id: str
    paper: str
    section: str
    claim: str  # in our words
    quote: str  # the paper's words; empty if the claim is in a table
    asks: str  # its words on how many comparisons must be true (`rules.rule.share_of`)
    # Decided on the sound runs (`claim_verdicts.VERDICTS`), and the numbers that decided.
    verdict: str
    reason: str
    # The same, decided on the runs as published.
    as_published: str
    as_published_reason: str
    runs: str  # runs behind the verdict, or their number where they are many
    own_numbers: str
    how_to_check: str
    kind: str = ""  # one of `KINDS`
    # Id of an earlier claim that one rule decides with this one; empty if it is the first.
    same_as: str = ""


def claims(findings: Findings, ledger: Sequence[Entry]) -> list[Claim]:
    """Return every claim of the five papers with its verdicts, each by its rules."""
    scores = tabulate(findings)
    originals, stand_ins = scores.of_the_papers(), scores.of_stand_ins()
    sides = [
        (Evidence(originals, protocol, ledger), Evidence(stand_ins, protocol))
        for protocol in ("sound", "as_published")
    ]
    rows = [row for paper in PAPERS.values() for row in facts("claims", paper.folder)]
    return [_claim(row, *(_verdict(row["id"], *side) for side in sides)) for row in rows]


def _claim(row: dict[str, str], sound: Decision, published: Decision) -> Claim:
    paths = (sound if sound.runs else published).runs
    more = [f"and {len(paths) - 2} more"] if len(paths) > 2 else []
    return Claim(
        **row,
        verdict=sound.verdict,
        reason=sound.reason,
        as_published=published.verdict,
        as_published_reason=published.reason,
        runs="; ".join([*paths[:2], *more]),
    )


def _verdict(claim: str, originals: Evidence, stand_ins: Evidence) -> Decision:
    """Return the decision by the papers' data; without runs that by stand-ins, marked as a toy."""
    original = _decide(claim, originals)
    if original.verdict not in (NOT_RUN, NOT_DECIDABLE):
        return original
    toy = _decide(claim, stand_ins)
    if toy.verdict not in _DECIDED or not toy.runs:
        return original
    return Decision(TOY, f"on stand-ins only, where it is '{toy.verdict}': {toy.reason}", toy.runs)


def _decide(claim: str, evidence: Evidence) -> Decision:
    """Return the decision; as published, it is not run where all runs are corrected."""
    decision = decide(claim, evidence)
    if evidence.protocol == "as_published" and evidence.all_sound(decision.runs):
        why = "compared only with runs under the corrected protocol"
        return Decision(NOT_RUN, why, decision.runs)
    return decision
