"""Comparisons of models on a page: tables, and the forests of their differences."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from deepcac.judging.questions import ANY, BEND, BENT, BOOSTING, HELP, NEGATIVE, Question
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
HEADINGS = {
    HELP: "{model}: with clusters, minus without",
    ANY: "{model}: two clusters or more, minus a partition that means nothing",
    BOOSTING: "{model} with clusters, minus tuned boosting",
    BEND: "Logistic regression: with splines, minus without",
    BENT: "{model} with clusters, minus splines",
    NEGATIVE: "Control: {model} with a hash of the row, minus without",
}
_SCALES = {
    AUROC: Scale("AUROC", 0.5),
    RATIO: Scale("observed / expected", 1, ratio=True),
    SLOPE: Scale("calibration slope", 1),
}


class Line(NamedTuple):
    """A comparison, or a score, with its 95 % interval; a heading has only a name.

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
    mean: float = np.nan
    low: float = np.nan
    high: float = np.nan
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


def differences_forest(id: str, what: str, lines: Sequence[Line]) -> Figure:
    """Draw differences in AUROC, a panel a heading; the data call a line `what`.

    Parameters
    ----------
    id, what : str
    lines : sequence of Line
    """
    panel, placed = "", []
    for place, line in enumerate(lines):
        panel = line.name if np.isnan(line.mean) else panel
        placed += [(panel, str(place), line)] * (not np.isnan(line.mean))
    forest = Forest(
        points=_points(placed),
        marks={"": Mark("o", "")},
        panels={name: name for name, *_ in placed} or {"": ""},
        labels={row: line.name for _, row, line in placed},
        margin=MARGIN,
        pooled={row for _, row, line in placed if line.pooled},
    )
    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference with its 95 % interval. Grey band: negligible differences (margin "
        f"{MARGIN:g}). Hollow: nothing is tested, as both sides are one model (never chosen) or "
        "have the same scores (tied)."
        + " Diamonds: over all, and where the difference of a new one is expected."
        * bool(forest.pooled),
        section="comparison",
        size=(6.2, forest.size(1)[1]),
        draw=lambda canvas: forest.draw(canvas, 1),
        head=(what, "mean", "low", "high", "verdict"),
        data=[line[:5] for line in lines],
    )


def _points(placed: Sequence[tuple[str, str, Line]]) -> pd.DataFrame:
    """Return the points of a `Forest`: of lines, with their panel and row."""
    columns = ["panel", "row", "mark", *ENDS, "verdict"]
    rows = [(panel, row, "", *line[1:5]) for panel, row, line in placed]
    return pd.DataFrame(rows, columns=columns)


def scores_forest(scores: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw AUROC, observed / expected events and slope by place, a panel each.

    `scores` holds lines by the name of a score; those over all places are the last.
    """
    every = [(score, line) for score, lines in scores.items() for line in lines]
    names = dict.fromkeys(line.name for _, line in every)
    forest = Forest(
        points=_points([(score, line.name, line) for score, line in every]),
        marks={"": Mark("o", "", INK)},
        panels=dict.fromkeys(scores, ""),
        labels={name: name for name in names},
        scales={score: _SCALES[score] for score in scores},
        pooled={line.name for _, line in every if line.pooled},
    )
    diamonds = ", the mean over places, and where a new place is expected (diamonds)"
    return Figure(
        id="scores_by_place",
        title="The model by place",
        caption=f"With 95 % intervals{diamonds * bool(forest.pooled)}. Grey lines: no better than "
        "chance; as many events as expected; risks as spread as they should be.",
        section="places",
        size=(8.2 if len(scores) > 1 else 6.2, 1.2 + 0.3 * len(names)),
        draw=lambda canvas: forest.draw(canvas, len(scores)),
        head=("place", "score", "value", "low", "high"),
        data=[(line.name, score, *line[1:4]) for score, line in every],
    )


def score_line(name: str, values: Sequence[float], *, pooled: bool = False) -> Line:
    """Return the line of a value with the ends of its interval."""
    mean, low, high = map(float, values[:3])
    return Line(name, mean, low, high, pooled=pooled)


def comparison_forest(
    answer: Answer,
    headings: Mapping[Question, str] = HEADINGS,
    arm: Callable[[str], str] = arm_name,
) -> Figure:
    """Draw the differences in AUROC of some questions with their 95 % intervals.

    Parameters
    ----------
    answer : Answer
    headings : dict of Question to str
        Above the comparisons of a ``{model}``.
    arm : callable
        Returns what sets a contender apart from its learner alone, in words.
    """
    lines: list[Line] = []
    for question, text in headings.items():
        comparisons = rows_of(answer.table, question)
        learner = comparisons["contender"].map(lambda name: name.rpartition("_")[2])
        for model, rows in comparisons.groupby(learner, sort=False):
            lines.append(Line(text.format(model=contender_name(str(model)))))
            for row in rows.to_dict("records"):
                name = arm(row["contender"]) if question != BEND else "with splines"
                if question == ANY:
                    name += f" – {arm(row['reference'])}"
                lines.append(Line.of(name, row))
    return differences_forest("forest", "model", lines)


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
