"""What the judge could have seen, as a picture: planted subtypes by what they are worth."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.judging.questions import HELP, NEGATIVE
from deepcac.pages.figures import LINES, Figure
from deepcac_study.report.contender_names import contender_colour, contender_label

_CURVE = (
    *("strength", "oracle_gain", "question", "contender", "reference"),
    *("rows", "cohorts", "mean", "detected", "detected_holm"),
)


def power_figure(power: Sequence[dict[str, Any]]) -> Figure:
    """Draw what arms find, and what they add, in the smallest planted cohorts.

    Parameters
    ----------
    power : sequence of dict
        Of `deepcac_study.judge.power.power_curve`.
    """
    asked, rows = (HELP.id, NEGATIVE.id), min(one["rows"] for one in power)
    curve = [one for one in power if one["question"] in asked and one["rows"] == rows]
    contenders = list(dict.fromkeys(str(one["contender"]) for one in curve))

    def draw(canvas: Canvas) -> None:
        left, right = canvas.subplots(1, 2, sharex=True)
        for index, name in enumerate(contenders):
            own = [one for one in curve if one["contender"] == name]
            _line(left, own, "detected_holm", index, name)
            _line(right, own, "mean", index, name)
        gains = sorted({one["oracle_gain"] for one in curve})
        right.plot(gains, gains, color="#888888", linewidth=0.8, linestyle=":")
        left.set(ylabel="share of cohorts found better", ylim=(-0.05, 1.05))
        right.set(ylabel="mean difference in AUROC")
        for axis in (left, right):
            axis.set(xlabel="AUROC that the true subtypes add")
            axis.xaxis.set_major_locator(MaxNLocator(4))
        lines = left.get_legend_handles_labels()
        canvas.legend(*lines, loc="outside upper center", ncols=min(len(contenders), 4))

    return Figure(
        id="judge_power",
        title="What the judge can see: planted subtypes (synthetic)",
        caption=f"Generated cohorts of {rows:,} with two subtypes of reversed risks, judged by the "
        "study's rule (the first step of Holm's correction); "
        "the subtypes themselves would add what the horizontal axis says (dotted on the right). "
        f"{curve[0]['cohorts']} cohorts a point; a hash of the row number is the control.",
        section="judge",
        size=(8.6, 3.7),
        draw=draw,
        head=_CURVE,
        data=[tuple(one[name] for name in _CURVE) for one in curve],
        seen="; ".join(
            f"{contender_label(one['contender'])} is found better in "
            f"{100 * one['detected_holm']:.0f} % where the subtypes add {one['oracle_gain']:.2f}"
            for one in curve
        ),
    )


def _line(axis: Axes, rows: list[dict[str, Any]], field: str, index: int, name: str) -> None:
    gains = [one["oracle_gain"] for one in rows]
    # Curves that lie on each other are set apart by their marks.
    axis.plot(
        gains,
        [one[field] for one in rows],
        marker="osD^v"[index % 5],
        markersize=4 + 1.5 * (index % 2),
        markerfacecolor="none",
        linestyle=LINES[index % len(LINES)],
        color=contender_colour(name, index),
        label=contender_label(name),
    )
