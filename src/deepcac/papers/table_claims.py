"""Claims that restate a printed table: they hold if the table's cells agree in the ledger."""

from collections.abc import Sequence

from deepcac.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac.papers.ledger import AGREE, DIFFER, Entry
from deepcac.papers.rules import Rule, graded


def table_rules(ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        "CAC2-21": _agrees([e for e in ledger if (e.paper, e.table) == ("cac_v2", "4")]),
        "DCAC-46": _alpha_at_most(
            2.0, [e for e in ledger if (e.paper, e.table) == ("deepcac", "4")]
        ),
        "DCAC-47": _agrees([e for e in ledger if (e.paper, e.table) == ("deepcac", "4")]),
    }


def _agrees(entries: Sequence[Entry]) -> Rule:
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
        return Decision(graded(right / len(decided), 1.0), figures, runs)

    return rule


def _verdict(entry: Entry, sound: bool) -> str:
    return entry.sound_verdict if sound else entry.verdict


def _alpha_at_most(limit: float, entries: Sequence[Entry]) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        column = "sound" if evidence.protocol == "sound" else "as_published"
        alphas = [float(value) for entry in entries if (value := getattr(entry, column))]
        if not alphas:
            return Decision(NOT_RUN, "no tuned alpha yet")
        inside = sum(0 <= alpha <= limit for alpha in alphas)
        figures = f"{inside} of {len(alphas)} tuned alphas are at most {limit:g}"
        runs = tuple(dict.fromkeys(entry.run for entry in entries if entry.run))
        return Decision(graded(inside / len(alphas), 0.9), figures, runs)

    return rule
