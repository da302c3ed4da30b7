"""Verdicts on the papers' claims, each by a rule that looks at runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.cac_v1.claims import rules as cac_v1_rules
from deepcac_study.papers.cac_v2.claims import rules as cac_v2_rules
from deepcac_study.papers.class_decomposition.claims import rules as decomposition_rules
from deepcac_study.papers.deepcac.claims import rules as deepcac_rules
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.evidence import (
    CANNOT,
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    TOY,
    UNDECIDED,
    Decision,
    Evidence,
)
from deepcac_study.papers.findings import of_stand_ins, of_the_papers
from deepcac_study.papers.rules.decisions import Rule
from deepcac_study.papers.rules.rule_table import table_rules
from deepcac_study.papers.supervised_kmeans.claims import rules as skmeans_rules
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

Sided = tuple[Rule, Runs]  # a rule made from one side's findings, and the runs of that side
# What a claim is about, and how its verdict is found.
KINDS = {
    "print": "arithmetic of what is printed, or theory: no run is needed",
    "algorithm": "what an algorithm does, costs or guarantees",
    "prediction": "the paper's method predicts, or clusters, better",
    "comparison": "any other comparison: settings, data, times, other methods",
}
_DECIDED = (HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED)


@dataclass(frozen=True)
class Claim:
    """A claim and what the runs say about it.

    What is not decided here is from the facts.
    """

    id: str
    paper: str
    section: str
    claim: str  # in our words
    quote: str  # in the paper's words; empty where a table says it
    asks: str  # its words on how many comparisons must be true (`rules.asked`)
    # Decided on the sound runs (`evidence.VERDICTS`), and the numbers that decided.
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
    """Decide every claim of the five papers, each by its rule."""
    originals, stand_ins = of_the_papers(findings), of_stand_ins(findings)
    paper_rules, toys = rules(originals, ledger), rules(stand_ins, ())
    rows = [row for paper in PAPERS.values() for row in facts("claims", paper.folder)]
    return [
        _claim(row, (paper_rules[row["id"]], originals.runs), (toys[row["id"]], stand_ins.runs))
        for row in rows
    ]


def rules(findings: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules of all papers by claim id."""
    makers = (cac_v1_rules, cac_v2_rules, deepcac_rules, decomposition_rules, skmeans_rules)
    parts = (table_rules(findings, ledger), *(of(findings) for of in makers))
    return {name: rule for part in parts for name, rule in part.items()}


def _claim(row: dict[str, str], original: Sided, stand_in: Sided) -> Claim:
    sound, published = (
        _verdict(_decide(original, protocol), _decide(stand_in, protocol))
        for protocol in ("sound", "as_published")
    )
    deciding = sound if sound.runs else published
    return Claim(
        **row,
        verdict=sound.verdict,
        reason=sound.reason,
        as_published=published.verdict,
        as_published_reason=published.reason,
        runs=_paths(deciding.runs),
    )


def _verdict(original: Decision, stand_in: Decision) -> Decision:
    """Return what the papers' own data say; where they say nothing, what stand-ins do: a toy."""
    if original.verdict not in (NOT_RUN, NOT_DECIDABLE) or stand_in.verdict not in _DECIDED:
        return original
    if not stand_in.runs:
        return original
    reason = f"on stand-ins only, where it is '{stand_in.verdict}': {stand_in.reason}"
    return Decision(TOY, reason, stand_in.runs)


def _decide(side: Sided, protocol: str) -> Decision:
    rule, runs = side
    evidence = Evidence(runs, protocol)
    decision = rule(evidence)
    if protocol == "as_published" and evidence.all_sound(decision.runs):
        return Decision(
            NOT_RUN, "compared only with runs under the corrected protocol", decision.runs
        )
    return decision


def _paths(paths: Sequence[str]) -> str:
    more = [f"and {len(paths) - 2} more"] if len(paths) > 2 else []
    return "; ".join([*paths[:2], *more])
