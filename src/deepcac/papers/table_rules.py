"""Claims that restate a printed table: they hold if its cells agree in the ledger."""

from collections.abc import Sequence

from deepcac.papers.agreement import AGREE, DIFFER
from deepcac.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac.papers.ledger import Entry
from deepcac.papers.rules import Rule, by_share


def of_table(ledger: Sequence[Entry], paper: str, number: str) -> list[Entry]:
    """Return the entries of one printed table."""
    return [entry for entry in ledger if (entry.paper, entry.table) == (paper, number)]


def agrees(entries: Sequence[Entry]) -> Rule:
    """Return the rule "our numbers agree with the printed cells" (all hold, most partly)."""

    def rule(evidence: Evidence) -> Decision:
        sound = evidence.protocol == "sound"
        decided = [
            entry
            for entry in entries
            if (entry.sound if sound else entry.as_published)
            and _verdict(entry, sound) in (AGREE, DIFFER)
        ]
        if not decided:
            return Decision(NOT_RUN, "no cell of the table has a run yet")
        right = sum(_verdict(entry, sound) == AGREE for entry in decided)
        figures = f"{right} of {len(decided)} printed cells agree ({len(entries)} in the table)"
        runs = tuple(dict.fromkeys(entry.run for entry in decided))
        return Decision(by_share(right / len(decided), 1.0), figures, runs)

    return rule


def _verdict(entry: Entry, sound: bool) -> str:
    return entry.sound_verdict if sound else entry.verdict


def alpha_at_most(limit: float, entries: Sequence[Entry]) -> Rule:
    """Return the rule "a tuned alpha lies between 0 and this" (of nine in ten it holds)."""

    def rule(evidence: Evidence) -> Decision:
        column = "sound" if evidence.protocol == "sound" else "as_published"
        alphas = [float(value) for entry in entries if (value := getattr(entry, column))]
        if not alphas:
            return Decision(NOT_RUN, "no tuned alpha yet")
        inside = sum(0 <= alpha <= limit for alpha in alphas)
        figures = f"{inside} of {len(alphas)} tuned alphas are at most {limit:g}"
        runs = tuple(dict.fromkeys(entry.run for entry in entries if entry.run))
        return Decision(by_share(inside / len(alphas), 0.9), figures, runs)

    return rule
