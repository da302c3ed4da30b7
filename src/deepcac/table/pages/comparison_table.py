"""Comparisons of models with and without clusters, or groups: table and forest plot."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import ANY, BEND, BENT, BOOSTING, HELP, NEGATIVE, Question
from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_beside
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.table.answer import Answer
from deepcac.table.cluster_answer import rows_of
from deepcac.table.comparison_words import arm_name, contender_name, signed
from deepcac.table.pages.forest_lines import Line, differences_forest

METRICS = {"auroc": "AUROC", "auprc": "AUPRC"}
_HEADINGS = {
    HELP: "{model}: with clusters, minus without",
    ANY: "{model}: two clusters or more, minus a partition that means nothing",
    BOOSTING: "{model} with clusters, minus tuned boosting",
    BEND: "Logistic regression: with splines, minus without",
    BENT: "{model} with clusters, minus splines",
    NEGATIVE: "Control: {model} with a hash of the row, minus without",
}


def comparison_forest(answer: Answer, questions: Sequence[Question] = tuple(_HEADINGS)) -> Figure:
    """Draw the differences in AUROC of some questions with their 95 % intervals.

    Parameters
    ----------
    answer : Answer
    questions : sequence of Question
        Those of `_HEADINGS` by default.
    """
    return differences_forest("forest", "model", _lines(answer, questions), answer.margin)


def _lines(answer: Answer, questions: Sequence[Question]) -> list[Line]:
    """Return a heading without verdict, and the comparisons, of each question and model."""
    lines: list[Line] = []
    for question in questions:
        comparisons = rows_of(answer.table, question)
        learner = comparisons["contender"].map(lambda name: parse_contender(name).learner)
        for model, rows in comparisons.groupby(learner, sort=False):
            heading = _HEADINGS[question].format(model=contender_name(str(model)))
            lines.append(Line(heading))
            for row in rows.to_dict("records"):
                name = arm_name(row["contender"]) if question != BEND else "with splines"
                if question == ANY:
                    name += f" – {arm_name(row['reference'])}"
                ends = (row["mean"], row["low"], row["high"])
                lines.append(Line(name, *ends, row["verdict"]))
    return lines


def verdict_note(margin: float, declined: str) -> str:
    """Say what the verdicts mean; never chosen is that the validation rows took `declined`."""
    return (
        "Better and worse: the corrected t-test finds a difference (p below 0.05, Holm-adjusted "
        "inside a question). Equivalent: two one-sided tests exclude a difference of "
        f"{margin:g} (p below 0.05, adjusted likewise). Undecided: neither; more rows are needed. "
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
            METRICS[row["metric"]], row["verdict"], signed(row["mean"], 4), *_tested(row),
        )
        for row in comparisons.to_dict("records")
    ]  # fmt: skip
    head = ("question", "model", "reference", "metric", "verdict", "difference")
    whole = (*head, "95 % interval", "p (Holm)")
    return Table.of_texts(
        "comparisons", "Every comparison", whole, rows, n_labels=3, verdict="verdict"
    )


def _tested(row: Mapping[Hashable, Any]) -> list[str]:
    """Return interval and p; nothing where nothing is tested."""
    cells = [f"{signed(row['low'], 4)} to {signed(row['high'], 4)}", p_beside(row["p_holm"])]
    return [""] * len(cells) if row["verdict"] in NOT_TESTED else cells
