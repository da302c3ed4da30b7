"""Comparisons of models on a page: tables, and the forests of their differences."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import BEND, HELP, NEGATIVE, Question
from deepcac.pages.figures import INK, Figure
from deepcac.pages.forest import ENDS, Forest, Mark, Scale
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_beside
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.scoring.margins import MARGIN
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE
from deepcac.table.answer import Answer, arm_name, contender_name, signed
from deepcac.table.answer import Line as Comparison
from deepcac.table.cluster_answer import rows_of

METRICS = {"auroc": "AUROC", "auprc": "AUPRC"}
_HEADINGS = {
    HELP: "{model}: with clusters, minus without",
    BEND: "Logistic regression: with splines, minus without",
    NEGATIVE: "Control: {model} with a hash of the row, minus without",
}
_SCALES = {
    AUROC: Scale("AUROC", 0.5),
    RATIO: Scale("observed / expected", 1, ratio=True),
    SLOPE: Scale("calibration slope", 1),
}


class Line(NamedTuple):
    """A comparison, or a score, with its 95 % interval.

    Attributes
    ----------
    name : str
    mean, low, high : float
    verdict : str
        Gives the colour.
    pooled : bool
        Whether it is of all lines together.
    """

    name: str
    mean: float
    low: float
    high: float
    verdict: str = ""
    pooled: bool = False

    @classmethod
    def of(cls, name: str, row: Comparison) -> "Line":
        """Return a row of `deepcac.judging.verdicts.verdicts` under a name."""
        return cls(name, row["mean"], row["low"], row["high"], row["verdict"])

    @property
    def text(self) -> str:
        """A difference in AUROC in a sentence."""
        ends = f"{signed(self.low)} to {signed(self.high)}"
        return f"{signed(self.mean)} AUROC (95 % interval {ends})"

    @property
    def cells(self) -> tuple[str, str]:
        """Difference and interval for a table; no interval where nothing varies."""
        span = "" if np.isnan(self.low) else f"{signed(self.low, 4)} to {signed(self.high, 4)}"
        return signed(self.mean, 4), span


def differences_forest(id: str, panels: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw differences in AUROC, in panels below each other by their headings."""
    filled = {name: name for name, lines in panels.items() if lines}
    forest = _forest(panels, panels=filled or {"": ""}, margin=MARGIN)
    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference with its 95 % interval. Grey band: negligible differences (margin "
        f"{MARGIN:g}). Hollow: nothing is tested, as both sides are one model (never chosen) or "
        "have the same scores (tied)."
        + " Diamonds: over all, and where the difference of a new one is expected."
        * bool(forest.pooled),
        size=(6.2, forest.size(1)[1]),
        draw=lambda canvas: forest.draw(canvas, 1),
    )


def scores_forest(scores: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw AUROC, observed / expected events and slope by place, a panel each.

    `scores` holds lines by the name of a score; those over all places are the last.
    """
    axes = {score: _SCALES[score] for score in scores}
    forest = _forest(scores, INK, panels=dict.fromkeys(scores, ""), scales=axes)
    diamonds = ", the mean over places, and where a new place is expected (diamonds)"
    return Figure(
        id="scores_by_place",
        title="The model by place",
        caption=f"With 95 % intervals{diamonds * bool(forest.pooled)}. Grey lines: no better than "
        "chance; as many events as expected; risks as spread as they should be.",
        size=(8.2 if len(scores) > 1 else 6.2, 1.2 + 0.3 * len(forest.labels)),
        draw=lambda canvas: forest.draw(canvas, len(scores)),
    )


def _forest(lines: Mapping[str, Sequence[Line]], colour: str = "", **shown: Any) -> Forest:
    """Return the forest of the lines of each panel."""
    every = [(panel, line) for panel, inside in lines.items() for line in inside]
    return Forest(
        points=pd.DataFrame(
            [(panel, line.name, "", *line[1:5]) for panel, line in every],
            columns=["panel", "row", "mark", *ENDS, "verdict"],
        ),
        marks={"": Mark("o", "", colour)},
        labels={line.name: line.name for _, line in every},
        pooled={line.name for _, line in every if line.pooled},
        **shown,
    )


def comparison_forest(answer: Answer) -> Figure:
    """Draw what clusters, splines and a hash of the row change, with 95 % intervals."""
    panels: dict[str, list[Line]] = {}
    for question, heading in _HEADINGS.items():
        for row in rows_of(answer.table, question).to_dict("records"):
            model = contender_name(parse_contender(row["contender"]).learner)
            name = arm_name(row["contender"]) if question != BEND else "with splines"
            panels.setdefault(heading.format(model=model), []).append(Line.of(name, row))
    return differences_forest("forest", panels)


def verdict_note(declined: str) -> str:
    """Say what the verdicts mean; never chosen is that the validation rows took `declined`."""
    return (
        "Better and worse: the corrected t-test finds a difference (p below 0.05, Holm-adjusted "
        "inside a question). Equivalent: two one-sided tests exclude a difference of "
        f"{MARGIN:g} (p below 0.05, adjusted likewise). Undecided: neither; more rows are needed. "
        f"Never chosen: the validation rows took {declined} in any resample, so both sides are one "
        "model and nothing is compared."
    )


def comparison_table(
    comparisons: pd.DataFrame, questions: Sequence[Question], named: Callable[[str], str]
) -> Table:
    """Return every comparison of `deepcac.judging.verdicts.verdicts`.

    `named` gives a contender its name in words.
    """
    texts = {question.id: question.text for question in questions}
    rows = [
        (
            texts[row["question"]], named(row["contender"]), named(row["reference"]),
            METRICS[row["metric"]], row["verdict"], *Line.of("", row).cells,
            "" if row["verdict"] in NOT_TESTED else p_beside(row["p_holm"]),
        )
        for row in comparisons.to_dict("records")
    ]  # fmt: skip
    head = ("question", "model", "reference", "metric", "verdict", "difference")
    whole = (*head, "95 % interval", "p (Holm)")
    return Table.of_texts(
        "comparisons", "Every comparison", whole, rows, n_labels=3, verdict="verdict"
    )
