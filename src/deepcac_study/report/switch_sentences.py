"""What was wrong in a paper's program and what it did to the scores, in sentences."""

from collections.abc import Iterable, Sequence

import numpy as np

from deepcac.pages.wording import minus, people
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import Switch, switches
from deepcac_study.report.comparisons import Difference

_METRICS = ("auroc", "f1", "auprc")  # the first that is there is told
_SMALL = 0.0005  # a difference that three decimals do not show


def touching(paper: str) -> list[Switch]:
    """Return the switches that touch a printed table of a paper, by its key."""
    every = switches().values()
    if not any(paper in one.touches for one in every):
        return []
    return [one for one in every if paper in one.touches or one.touches.startswith("all")]


def switch_sentences(told: Iterable[Switch], effects: Sequence[Difference]) -> list[str]:
    """Say of each switch that was run what it is, and its largest effect."""
    found = []
    for one in told:
        own = [row for row in effects if row.first.protocol == one.label]
        metric = next((name for name in _METRICS if any(r.metric == name for r in own)), None)
        if metric:
            found.append(_sentence(one, [row for row in own if row.metric == metric]))
    return found


def _sentence(one: Switch, rows: Sequence[Difference]) -> str:
    largest = max(rows, key=lambda row: abs(row.test.mean))
    k = f", k = {largest.first.k}" if largest.first.k > 1 else ""
    what = f"the {people(largest.metric)} of {method_label(largest.first.method)} on "
    what += f"{largest.first.dataset}{k}"
    said = (
        f"{one.label}. The program: {one.published}. The text: {one.sound}. "
        f"Without this difference {what} {_change(largest)}{_rest(rows)}."
    )
    return minus(said)


def _change(row: Difference) -> str:
    """Say how the score moves from the program's way to the text's."""
    moved = row.second_mean - row.first_mean
    if abs(moved) < _SMALL:
        return f"stays at {row.second_mean:.3f}"
    verb = "rises" if moved > 0 else "falls"
    low, high = -row.test.high, -row.test.low
    sure = "" if np.isnan([low, high]).any() else f", 95 % interval {low:+.3f} to {high:+.3f}"
    return f"{verb} from {row.first_mean:.3f} to {row.second_mean:.3f} ({moved:+.3f}{sure})"


def _rest(rows: Sequence[Difference]) -> str:
    if len(rows) == 1:
        return ""
    moved = [row.second_mean - row.first_mean for row in rows]
    return (
        f"; this is the largest change of {len(rows)} runs, from {min(moved):+.3f} to "
        f"{max(moved):+.3f}"
    )
