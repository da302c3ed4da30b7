"""What a page shows of groups: a line each, their outcome and risk, the differences they make."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.small_cells import (
    FEW,
    WITHHELD,
    format_count,
    format_percentage,
    is_few,
    round_count,
    round_share,
)
from deepcac.scoring.statistics import independent_rows, wilson
from deepcac.table.answer import Answer
from deepcac.table.audit.group_answer import model_name
from deepcac.table.audit.group_column import Groups
from deepcac.table.audit.group_contenders import HELP, KMEANS, NEGATIVE, NEW
from deepcac.table.cluster_answer import rows_of
from deepcac.table.pages.forest import Line, differences_forest
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
    hidden : bool
        Whether its outcome is withheld, as that of few patients is.
    rate, low, high : float
        Share of the outcome, of rounded counts, with its 95 % interval (Wilson 1927), as of
        independent patients.
    expected : float
        Mean risk.
    inner : tuple of float
        Tenth and ninetieth percentile of the risk, where `FEW` rows or more lie beyond each.
    """

    name: str
    size: int
    hidden: bool
    rate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    expected: float = np.nan
    inner: tuple[float, float] = (np.nan, np.nan)


_FEWEST_FOR_TENTHS = 10 * FEW
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
    hidden = is_few(patients) | is_few(counts[:, event])
    shares = round_share(counts[:, event], sizes)
    lines = []
    for j in np.argsort(-sizes, kind="stable").tolist():
        name = groups.names[j] if sizes[j] >= FEW else UNNAMED
        size = int(sizes[j])
        if hidden[j]:
            lines.append(GroupLine(name, size, hidden=True))
            continue
        inside = groups.code == j
        inside_risk = risk[inside, event]
        rate = shares[j]
        (low,), (high,) = wilson(shares[j : j + 1], round_count(patients[j : j + 1]))
        if follow is not None:
            rate, low, high = observed_risk(follow.take(inside))
        inner = (
            np.quantile(inside_risk, (0.1, 0.9))
            if sizes[j] >= _FEWEST_FOR_TENTHS
            else np.full(2, np.nan)
        )
        lines.append(
            GroupLine(
                name, size, False, float(rate), float(low), float(high), float(inside_risk.mean()),
                (float(inner[0]), float(inner[1])),
            )
        )  # fmt: skip
    return lines, event


def shown_lines(lines: list[GroupLine], n: int) -> list[tuple[str, ...]]:
    """Return `HEAD` for each group of `n` rows."""
    return [
        (
            line.name,
            format_count(line.size),
            format_percentage(line.size, n),
            *((WITHHELD,) * 3 if line.hidden else _outcome(line)),
        )
        for line in lines
    ]


def _outcome(line: GroupLine) -> tuple[str, str, str]:
    return (
        f"{100 * line.rate:.0f} % ({100 * line.low:.0f} to {100 * line.high:.0f})",
        f"{100 * line.expected:.1f} %",
        f"{100 * line.inner[0]:.1f} to {100 * line.inner[1]:.1f} %"
        if line.inner[0] >= 0
        else WITHHELD,
    )


def groups_forest(answer: Answer) -> Figure:
    """Draw the differences in AUROC with their 95 % intervals."""
    lines: list[Line] = []
    for question, heading in _HEADINGS.items():
        lines.append(Line(heading))
        lines += [
            Line(_short(row["contender"]), row["mean"], row["low"], row["high"], row["verdict"])
            for row in rows_of(answer.table, question).to_dict("records")
        ]
    return differences_forest("groups_forest", "comparison", lines, answer.margin)


def _short(contender: str) -> str:
    name = model_name(contender)
    model, _, rest = name.partition(",")
    form = rest[rest.rindex("(") + 1 : -1]
    return f"{model.removesuffix(' (scikit-learn)')}, {form}"


def risk_by_group(lines: list[GroupLine], event: str) -> Figure:
    """Draw the share of an outcome in each group, and the risk that a model without it expects."""
    shown = [line for line in lines if not line.hidden]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, line in enumerate(lines):
            if line.hidden:
                axis.text(0.02, place, WITHHELD, va="center", fontsize=8)
                continue
            axis.plot(line.inner, [place] * 2, color="#c7ccd3", linewidth=6, solid_capstyle="butt")
            axis.plot(line.expected, place, "|", color="#1c2430", markersize=12)
            ends = [[line.rate - line.low], [line.high - line.rate]]
            axis.errorbar(line.rate, place, xerr=ends, fmt="o", color=PALETTE[0], markersize=5)
        axis.plot([], [], "o", color=PALETTE[0], label=f"share of {event}")
        axis.plot([], [], "|", color="#1c2430", markersize=10, label="expected without the groups")
        axis.plot([], [], color="#c7ccd3", linewidth=6, label="risk of 80 % of the group")
        axis.set_yticks(range(len(lines)), [line.name for line in lines])
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
        data=[(line.name, *np.round((line.rate, line.low, line.high, line.expected), 4).tolist())
              for line in shown],
    )  # fmt: skip
