"""Verdicts on the papers' claims, each by a rule that looks at runs."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from deepcac.catalogue.facts import facts
from deepcac.experiments.finished import Runs
from deepcac.papers.cac_claims import cac_rules
from deepcac.papers.case_study_claims import case_study_rules
from deepcac.papers.deep_claims import deep_rules
from deepcac.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac.papers.ledger import Entry
from deepcac.papers.rules import Rule
from deepcac.papers.sweep_claims import sweep_rules
from deepcac.papers.table_claims import table_rules
from deepcac.papers.theory_claims import theory_rules
from deepcac.papers.tuning_claims import tuning_rules
from deepcac.report.bounds_table import TheoryRecord
from deepcac.report.case_studies import CaseStudy
from deepcac.report.sweep_curves import Sweeps
from deepcac.storage import atomic_path


@dataclass(frozen=True)
class Claim:
    """One row of the claims table.

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


def claims(
    runs: Runs,
    ledger: Sequence[Entry],
    sweeps: Sweeps,
    studies: Iterable[CaseStudy] = (),
    theory: Sequence[TheoryRecord] = (),
) -> list[Claim]:
    """Decide every claim of the facts; those without a rule say what they need."""
    rules = {**cac_rules(), **deep_rules(), **table_rules(ledger), **sweep_rules(sweeps)}
    rules |= case_study_rules(studies) | theory_rules(theory) | tuning_rules()
    return [_claim(row, rules.get(row["id"]), runs) for row in facts("claims")]


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
