"""What a page shows of groups: a line each, their outcome and risk, the differences they make."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.small_cells import (
    FEW,
    OTHERS,
    WITHHELD,
    Count,
    OfSome,
    Rate,
    Rule,
    Share,
    Text,
    withheld,
)
from deepcac.scoring.statistics import independent_rows
from deepcac.table.answer import Answer
from deepcac.table.audit.group_answer import model_name
from deepcac.table.audit.group_column import Groups
from deepcac.table.audit.group_contenders import HELP, KMEANS, NEGATIVE, NEW
from deepcac.table.cluster_answer import rows_of
from deepcac.table.pages.comparisons import Line, differences_forest
from deepcac.types import Array, Ids

HEAD = (
    *("group", "rows", "share", "outcome (95 % interval)"),
    *("expected without the groups", "risk, 10 to 90 %"),
)
_HEADINGS = {
    HELP: "With the groups, minus the same model without",
    NEW: "Groups read from the columns, minus without",
    KMEANS: "With the groups, minus k-means with as many",
    NEGATIVE: "Control: random groups, minus without",
}


class GroupLine(NamedTuple):
    """One group.

    Attributes
    ----------
    name : str
        `UNNAMED` of few rows.
    size : int
        Rows.
    rate : Rate
        Of the outcome.
    expected : float
        Mean risk.
    inner : tuple of float
        Tenth and ninetieth percentile of the risk.
    """

    name: str
    size: int
    rate: Rate
    expected: float
    inner: tuple[float, float]

    def hidden(self, rule: Rule = OTHERS) -> bool:
        """Tell whether its outcome is withheld, as that of few patients is."""
        return bool(np.isnan(self.rate.under(rule)[0]))


UNNAMED = "(a group of few rows)"


def group_lines(
    groups: Groups,
    y: Ids,
    risk: Array,
    follow: FollowUp | None = None,
    unit: Ids | None = None,
) -> tuple[list[GroupLine], int]:
    """Return the groups from the largest, and the class whose share is shown.

    It is the positive one of two classes, of more the rarest. `risk` is of shape (n, n_classes).
    With `follow` the share is the risk at its horizon (`observed_risk`). `unit` tells whose row
    each row is, where patients have several.
    """
    event = 1 if risk.shape[1] == 2 else int(np.bincount(y).argmin())
    counts = np.zeros((groups.k, risk.shape[1]), dtype=np.int64)
    np.add.at(counts, (groups.code, y), 1)
    sizes = counts.sum(axis=1)
    patients = independent_rows(groups.code, unit)
    lines = []
    for j in np.argsort(-sizes, kind="stable").tolist():
        inside, size = groups.code == j, int(sizes[j])
        name = OfSome(groups.names[j], size, instead=UNNAMED)
        at_horizon = None if follow is None else observed_risk(follow.take(inside))
        rate = Rate(int(counts[j, event]), size, int(patients[j]), risk=at_horizon)
        low, high = np.quantile(risk[inside, event], (0.1, 0.9)).tolist()
        lines.append(GroupLine(name, size, rate, float(risk[inside, event].mean()), (low, high)))
    return lines, event


def shown_lines(lines: list[GroupLine], n: int) -> list[tuple[str, ...]]:
    """Return `HEAD` for each group of `n` rows."""
    return [
        (
            line.name,
            Count(line.size),
            Share(line.size, n),
            line.rate.text,
            *_risks(line),
        )
        for line in lines
    ]


def _risks(line: GroupLine) -> list[Text]:
    """Return mean and tenths of the risk, the second where `FEW` rows lie beyond each."""
    mean, low, high = (100 * risk for risk in (line.expected, *line.inner))
    cells = f"{mean:.1f} %", OfSome(f"{low:.1f} to {high:.1f} %", line.size, 10 * FEW)
    return [withheld(cell, line.hidden) for cell in cells]


def groups_forest(answer: Answer) -> Figure:
    """Draw the differences in AUROC with their 95 % intervals."""
    lines: list[Line] = []
    for question, heading in _HEADINGS.items():
        lines.append(Line(heading))
        lines += [
            Line(_short(row["contender"]), row["mean"], row["low"], row["high"], row["verdict"])
            for row in rows_of(answer.table, question).to_dict("records")
        ]
    return differences_forest("groups_forest", "comparison", lines)


def _short(contender: str) -> str:
    name = model_name(contender)
    model, _, rest = name.partition(",")
    form = rest[rest.rindex("(") + 1 : -1]
    return f"{model.removesuffix(' (scikit-learn)')}, {form}"


def risk_by_group(lines: list[GroupLine], event: str, rule: Rule = OTHERS) -> Figure:
    """Draw the share of an outcome in each group, and the risk that a model without it expects."""
    shown = [line for line in lines if not line.hidden(rule)]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, line in enumerate(lines):
            if line.hidden(rule):
                axis.text(0.02, place, WITHHELD, va="center", fontsize=8)
                continue
            if line.size >= 10 * rule.few:
                axis.plot(line.inner, [place] * 2, color="#c7ccd3", linewidth=6,
                          solid_capstyle="butt")  # fmt: skip
            axis.plot(line.expected, place, "|", color="#1c2430", markersize=12)
            rate, low, high = line.rate.under(rule)
            ends = [[rate - low], [high - rate]]
            axis.errorbar(rate, place, xerr=ends, fmt="o", color=PALETTE[0], markersize=5)
        axis.plot([], [], "o", color=PALETTE[0], label=f"share of {event}")
        axis.plot([], [], "|", color="#1c2430", markersize=10, label="expected without the groups")
        axis.plot([], [], color="#c7ccd3", linewidth=6, label="risk of 80 % of the group")
        axis.set_yticks(range(len(lines)), [rule.show(line.name) for line in lines])
        axis.set(ylim=(len(lines) - 0.5, -0.6), xlim=(0, 1), xlabel=f"share of {event}")
        canvas.legend(loc="outside lower center", ncols=3)

    return Figure(
        id="risk_by_group",
        title="Outcome and risk by group",
        caption="Dots: the outcome with its 95 % interval. Strokes: the mean risk by a model "
        "without the groups, on rows that it has not seen. Bars: from the tenth to the "
        "ninetieth percentile of this risk. Withheld: groups of few rows or events.",
        section="risk",
        size=(6.4, 1.4 + 0.34 * len(lines)),
        draw=draw,
        head=("group", "share", "low", "high", "expected"),
        data=[(line.name, *np.round((*line.rate.under(rule), line.expected), 4).tolist())
              for line in shown],
    )  # fmt: skip
