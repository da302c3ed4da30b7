"""Verdicts on the papers' claims, each by a rule that looks at runs."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from deepcac.report.case_study import CaseStudy
from deepcac.report.claims.cac import cac_rules
from deepcac.report.claims.case_study import case_study_rules
from deepcac.report.claims.deep import deep_rules
from deepcac.report.claims.evidence import NOT_RUN, Decision, Evidence
from deepcac.report.claims.rules import Rule
from deepcac.report.claims.sweeps import sweep_rules
from deepcac.report.claims.tables import table_rules
from deepcac.report.claims.theory import theory_rules
from deepcac.report.claims.tuning import tuning_rules
from deepcac.report.ledger import Entry
from deepcac.report.printed import facts
from deepcac.report.records import Runs
from deepcac.report.sweeps import Sweeps
from deepcac.report.theory import TheoryRecord
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
