"""Claims that restate a printed table: they hold if its cells agree in the ledger."""

from collections.abc import Callable, Sequence

from deepcac_study.papers.agreement import AGREE, DIFFER, LOST
from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.names import restricted
from deepcac_study.papers.rules.decisions import Rule, sound_only
from deepcac_study.papers.rules.truth import Truth, settled, told


def of_table(ledger: Sequence[Entry], paper: str, number: str) -> list[Entry]:
    """Return the entries of one printed table."""
    return [entry for entry in ledger if (entry.paper, entry.table) == (paper, number)]


def agrees(entries: Sequence[Entry]) -> Rule:
    """Return the rule "our numbers agree with the printed cells"; cells not run are open."""
    return _of_cells(entries, lambda entry: entry.sound_verdict == AGREE, 1.0, "as printed")


def alpha_at_most(limit: float, entries: Sequence[Entry]) -> Rule:
    """Return the rule "a tuned alpha lies between 0 and this" (of nine in ten it holds)."""
    return _of_cells(
        entries, lambda entry: 0 <= float(entry.sound) <= limit, 0.9, f"at most {limit:g}"
    )


def _of_cells(
    entries: Sequence[Entry], what: Callable[[Entry], bool], share: float, words: str
) -> Rule:
    """Return the rule that something is true of a share of the cells that open data can decide."""

    def rule(evidence: Evidence) -> Decision:
        kept = [e for e in entries if e.sound_verdict != LOST and not _restricted(e)]
        answers: list[Truth] = [what(e) if _decided(e) else None for e in kept]
        runs = tuple(dict.fromkeys(e.run for e in kept if e.run))
        if set(answers) <= {None}:
            needed = next((e.needs for e in kept if e.needs), "the runs behind the table")
            return Decision(NOT_RUN, f"needs {needed}")
        reason = f"{told(answers)} tuned alphas: {words} ({len(entries)} in the table)"
        return Decision(settled(answers, share), reason, runs)

    return sound_only(rule, "alphas are tuned")


def _decided(entry: Entry) -> bool:
    return bool(entry.sound) and entry.sound_verdict in (AGREE, DIFFER)


def _restricted(entry: Entry) -> bool:
    return not entry.sound and entry.needs in restricted().values()
