"""Pictures of an audit: differences by partition, outcome and risk by group."""

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.small_cells import WITHHELD
from deepcac.table.answer import rows_of
from deepcac.table.audit.group_answer import GroupAnswer, model_name
from deepcac.table.audit.group_contenders import HELP, KMEANS, NEGATIVE, NEW
from deepcac.table.audit.group_lines import GroupLine
from deepcac.table.pages.own_figures import Line, differences

_HEADINGS = {
    HELP: "With the groups, minus the same model without",
    NEW: "Groups read from the columns, minus without",
    KMEANS: "With the groups, minus k-means with as many",
    NEGATIVE: "Control: random groups, minus without",
}


def groups_forest(found: GroupAnswer) -> Figure:
    """Draw the differences in AUROC with their 95 % intervals."""
    lines: list[Line] = []
    for question, heading in _HEADINGS.items():
        own = rows_of(found.table, question)
        lines.append((heading, 0.0, 0.0, 0.0, ""))
        lines += [
            (_short(one["contender"]), one["mean"], one["low"], one["high"], one["verdict"])
            for one in own.to_dict("records")
        ]
    return differences("groups_forest", "comparison", lines, found.margin, 0.25)


def _short(contender: str) -> str:
    name = model_name(contender)
    model, _, rest = name.partition(",")
    form = rest[rest.rindex("(") + 1 : -1]
    return f"{model.removesuffix(' (scikit-learn)')}, {form}"


def risk_by_group(lines: list[GroupLine], event: str) -> Figure:
    """Draw the share of an outcome in each group, and the risk that a model without it expects."""
    shown = [one for one in lines if not one.hidden]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, one in enumerate(lines):
            if one.hidden:
                axis.text(0.02, place, WITHHELD, va="center", fontsize=8)
                continue
            axis.plot(one.inner, [place] * 2, color="#c7ccd3", linewidth=6, solid_capstyle="butt")
            axis.plot(one.expected, place, "|", color="#1c2430", markersize=12)
            ends = [[one.rate - one.low], [one.high - one.rate]]
            axis.errorbar(one.rate, place, xerr=ends, fmt="o", color=PALETTE[0], markersize=5)
        axis.plot([], [], "o", color=PALETTE[0], label=f"share of {event}")
        axis.plot([], [], "|", color="#1c2430", markersize=10, label="expected without the groups")
        axis.plot([], [], color="#c7ccd3", linewidth=6, label="risk of 80 % of the group")
        axis.set_yticks(range(len(lines)), [one.name for one in lines])
        axis.set(ylim=(len(lines) - 0.5, -0.6), xlim=(0, 1), xlabel=f"share of {event}")
        canvas.legend(loc="outside lower center", ncols=3)

    return Figure(
        id="risk_by_group",
        title="Outcome and risk by group",
        caption="Dots: the outcome with its 95 % interval. Strokes: the mean risk by a model that "
        "is not told the groups, on rows that it has not seen. Bars: from the tenth to the "
        "ninetieth percentile of this risk. Withheld: what would tell of fewer than five rows.",
        section="risk",
        size=(6.4, 1.4 + 0.34 * len(lines)),
        draw=draw,
        head=("group", "share", "low", "high", "expected"),
        data=[(one.name, *np.round((one.rate, one.low, one.high, one.expected), 4).tolist())
              for one in shown],
    )  # fmt: skip
