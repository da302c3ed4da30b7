"""From a rule to a decision: select rows of the table, apply the check, report the evidence."""

from collections.abc import Iterable

import pandas as pd

from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.claim_verdicts import (
    LOST,
    NOT_DECIDABLE,
    NOT_RUN,
    Decision,
    Outcome,
    Truth,
    all_hold,
    counts_in_words,
    settled,
)
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.rules.compared_scores import compare
from deepcac_study.papers.rules.rule import ClaimRule, GroupCheck, function, rules

_PRINTED = "by the printed values"
# Sources that need no runs, and how the reason starts.
_WITHOUT_RUNS = {
    "theory": "theory",
    "print": f"{_PRINTED} only, whatever was run",
    "printed cells": _PRINTED,
}
# Sources that are measured under the corrected protocol only.
_SWEPT = ("alpha sweep", "weights sweep", "separation sweep", "grid")
_THEORY = ("inequalities", "cost", "risk", "growth", "log_loss")
_CHECKED = ("training", "large_clusters", "noise_free", "loss", "kmeans")
_SOUND_ONLY = {
    **dict.fromkeys(_SWEPT, "sweeps are made"),
    **dict.fromkeys(_THEORY, "theorems are evaluated"),
    **dict.fromkeys((*_CHECKED, "times", "bias_variance"), "measured"),
    "ledger": "alphas are tuned",
    "folds": "k is searched",
}
# The target to make if a source has no rows, unless the rule names one.
_NEEDS = {
    "alpha sweep": "results/sweeps/alpha_credit_k3.parquet",
    "weights sweep": "results/sweeps/weights_cic_los_k3.parquet",
    "separation sweep": "results/sweeps/separation_cic_k3.parquet",
    "grid": "results/sweeps/grid.parquet",
    **dict.fromkeys(_THEORY, "a record of the theorems, such as results/theory/cic_k2.json"),
    **dict.fromkeys(_CHECKED, "results/skmeans/checks.json"),
    **dict.fromkeys(("features", "students"), "results/case_study/cic_los_k3.json"),
    "times": "results/skmeans/times.json",
    "bias_variance": "results/bias_variance",
    "decomposition": "results/decomposition/*.json",
}
_PRINTED_TABLES = {table.source for paper in PAPERS.values() for table in paper.tables}


def decide(claim: str, evidence: Evidence) -> Decision:
    """Return the decision on a claim; mixed verdicts of its rules give "partly".

    Parts that only restricted or lost data could decide are left out, unless there are no others.
    With an undecided part the whole is undecided, unless another part fails.
    """
    decisions = [_decide(rule, evidence) for rule in rules()[claim]]
    if len(decisions) == 1:
        return decisions[0]
    verdicts = {decision.verdict for decision in decisions}
    reason = " | ".join(decision.reason for decision in decisions)
    runs = _distinct(path for decision in decisions for path in decision.runs)
    if NOT_RUN in verdicts:
        return Decision(NOT_RUN, reason, runs)
    if len(verdicts) > 1:
        verdicts -= {NOT_DECIDABLE, LOST}
    return Decision(all_hold(verdicts), reason, runs)


def _decide(rule: ClaimRule, evidence: Evidence) -> Decision:
    """Return the verdict on a claim; `unless` can make it not decidable."""
    if rule.source in _WITHOUT_RUNS:
        cells = evidence.rows("ledger", rule.where) if rule.where else pd.DataFrame()
        verdict, figures, *_ = function(rule.check)(cells, rule)
        return Decision(verdict, f"{_WITHOUT_RUNS[rule.source]}: {figures}")
    decision = _on_runs(rule, evidence)
    if rule.print:
        return _beside_print(rule, evidence, decision)
    why = function(rule.unless)(evidence) if rule.unless else ""
    if not why or (decision.verdict == NOT_RUN and not decision.runs):
        return decision
    reason = f"{why}; on ours it would be '{decision.verdict}': {decision.reason}"
    return Decision(NOT_DECIDABLE, reason, decision.runs)


def _on_runs(rule: ClaimRule, evidence: Evidence) -> Decision:
    """Return the verdict by our runs, with their paths; not run if there are none."""
    if evidence.protocol != "sound" and rule.source in _SOUND_ONLY:
        return Decision(NOT_RUN, f"{_SOUND_ONLY[rule.source]} under the corrected protocol only")
    if rule.source in _PRINTED_TABLES:
        return compare(rule, evidence)
    rows = evidence.rows(rule.source, rule.where)
    if rows.empty:
        return Decision(NOT_RUN, f"needs {_NEEDS.get(rule.source, rule.words)}")
    check = function(rule.check)
    outcome = _by_group(check, rows, rule) if rule.group_by else check(rows, rule)
    if outcome.verdict == NOT_RUN:
        return Decision(NOT_RUN, outcome.figures)
    used = rows if outcome.rows is None else outcome.rows
    return Decision(outcome.verdict, outcome.figures, _distinct(used["path"]))


def _by_group(check: GroupCheck, rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Apply a check to each group; it returns true, false or open (None), maybe with a text."""
    groups = rows.groupby(rule.group_by.split(), sort=False)
    outcome = [check(group, rule) for _, group in groups]
    answers: list[Truth] = [answer for answer, _ in outcome]
    share = rule.share(len(answers))
    text = "; ".join(filter(None, (text for _, text in outcome)))
    counted = f"{counts_in_words(answers)} fits, each clustering counted once"
    return Outcome(settled(answers, share), text or f"{counted}; needed for {share:.0%}")


def _beside_print(rule: ClaimRule, evidence: Evidence, decision: Decision) -> Decision:
    """Add the verdict by printed values, which decides if there are too few runs."""
    verdict, figures, *_ = function(rule.check)(evidence.printed(rule.source), rule)
    if decision.verdict == NOT_RUN:
        return Decision(verdict, f"{_PRINTED}: {figures}; our runs: {decision.reason}")
    return Decision(decision.verdict, f"{decision.reason}; {_PRINTED}: {verdict}", decision.runs)


def _distinct(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, paths)))
