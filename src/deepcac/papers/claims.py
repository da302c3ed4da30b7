"""Verdicts on the papers' claims, each by a rule that looks at runs."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from deepcac.atomic import atomic_path
from deepcac.catalogue.facts import facts
from deepcac.experiments.finished import Runs
from deepcac.papers.bibliography import PAPERS
from deepcac.papers.cac_v1.claims import rules as cac_v1_rules
from deepcac.papers.cac_v2.claims import rules as cac_v2_rules
from deepcac.papers.class_decomposition.claims import rules as class_decomposition_rules
from deepcac.papers.deepcac.claims import rules as deepcac_rules
from deepcac.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import Entry
from deepcac.papers.rules import Rule
from deepcac.papers.supervised_kmeans.claims import rules as supervised_kmeans_rules


@dataclass(frozen=True)
class Claim:
    """A claim and what the runs say about it.

    Attributes
    ----------
    id, paper, section, claim, how_to_check, own_numbers : str
        From the facts.
    verdict, figures : str
        Decided on the sound runs.
    as_published, as_published_figures : str
        The same, decided on the runs as published.
    runs : str
        Runs behind the verdict, or their number where they are many.
    """

    id: str
    paper: str
    section: str
    claim: str
    verdict: str
    figures: str
    as_published: str
    as_published_figures: str
    runs: str
    own_numbers: str
    how_to_check: str


def claims(found: Findings, ledger: Sequence[Entry]) -> list[Claim]:
    """Decide every claim of the five papers; those without a rule say what they need."""
    known = rules(found, ledger)
    rows = [row for paper in PAPERS.values() for row in facts("claims", paper.folder)]
    return [_claim(row, known.get(row["id"]), found.runs) for row in rows]


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules of all papers by claim id."""
    parts = (
        cac_v1_rules,
        cac_v2_rules,
        supervised_kmeans_rules,
        deepcac_rules,
        class_decomposition_rules,
    )
    return {name: rule for part in parts for name, rule in part(found, ledger).items()}


def _claim(row: dict[str, str], rule: Rule | None, runs: Runs) -> Claim:
    sound, published = (
        _decide(row, rule, Evidence(runs, protocol)) for protocol in ("sound", "as_published")
    )
    deciding = sound if sound.runs else published
    return Claim(
        id=row["id"],
        paper=row["paper"],
        section=row["section"],
        claim=row["claim"],
        verdict=sound.verdict,
        figures=sound.figures,
        as_published=published.verdict,
        as_published_figures=published.figures,
        runs=_paths(deciding.runs),
        own_numbers=row["own_numbers"],
        how_to_check=row["how_to_check"],
    )


def _decide(row: dict[str, str], rule: Rule | None, evidence: Evidence) -> Decision:
    if rule is not None:
        decision = rule(evidence)
        if evidence.protocol == "as_published" and evidence.all_sound(decision.runs):
            return Decision(NOT_RUN, "held against the sound runs alone", decision.runs)
        return decision
    if row["own_numbers"].startswith("theory"):
        return Decision(NOT_RUN, f"theory, no run decides it: {row['how_to_check']}")
    return Decision(NOT_RUN, f"needs: {row['how_to_check']}")


def _paths(paths: Sequence[str], most: int = 2) -> str:
    if len(paths) <= most:
        return "; ".join(paths)
    return "; ".join([*paths[:most], f"and {len(paths) - most} more"])


def counts(rows: Iterable[Claim]) -> dict[str, int]:
    """Return how often each verdict occurs, most frequent first."""
    tally = Counter(row.verdict for row in rows)
    return dict(sorted(tally.items(), key=lambda item: (-item[1], item[0])))


def write(path: str | Path, rows: Iterable[Claim]) -> None:
    """Write the claims as CSV."""
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Claim)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
