"""Pictures of a comparison on one's own table: differences, subtypes, missing values."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import ANY, BEND, BENT, BOOSTING, HELP, NEGATIVE, Question
from deepcac.pages.figures import PALETTE, VERDICT_COLOURS, Figure, ink_on, verdicts_in
from deepcac.pages.wording import minus
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.scoring.small_cells import FEW, WITHHELD, format_count, round_share
from deepcac.table.answer import Answer, rows_of
from deepcac.table.comparison_words import arm_name, contender_name, signed
from deepcac.table.found_subtypes import FoundClustering
from deepcac.table.reading.table_encoder import EncodedColumn
from deepcac.types import Array

_HEADINGS = {
    HELP: "{model}: with clusters, minus without",
    ANY: "{model}: two clusters or more, minus a partition that means nothing",
    BOOSTING: "{model} with clusters, minus tuned boosting",
    BEND: "Logistic regression: a bent line, minus a straight one",
    BENT: "{model} with clusters, minus a bent line",
    NEGATIVE: "Control: {model} with a hash of the row, minus without",
}
Line = tuple[str, float, float, float, str]  # name, mean, low, high, verdict; a heading has none
_CLEAR = 3.0  # standard deviations at which the colour is full


def forest(answer: Answer, questions: Sequence[Question] = tuple(_HEADINGS)) -> Figure:
    """Draw the differences in AUROC of some questions with their 95 % intervals.

    Parameters
    ----------
    answer : Answer
    questions : sequence of Question
        Those of `_HEADINGS` by default.
    """
    lines = _lines(answer, questions)
    return differences("forest", "model", lines, answer.margin, 0.23)


def differences(id: str, what: str, lines: list[Line], margin: float, height: float) -> Figure:
    """Return the picture of comparisons, which the data call `what`, each of a height in inches."""
    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference over the resamples with its 95 % interval. Grey band: "
        f"negligible differences (margin {margin:g}). Hollow: nothing is tested, as "
        "both sides are one model (never chosen) or have the same scores (tied).",
        section="comparison",
        size=(6.2, 1.1 + height * len(lines)),
        draw=lambda canvas: _draw_forest(canvas, lines, margin),
        head=(what, "mean", "low", "high", "verdict"),
        data=lines,
    )


def _draw_forest(canvas: Canvas, lines: Sequence[Line], margin: float) -> None:
    """Draw comparisons below their heading, so that labels are short."""
    axis = canvas.subplots()
    axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
    axis.axvline(0, color="#888888", linewidth=0.8)
    across = axis.get_yaxis_transform()
    for place, (name, mean, low, high, verdict) in enumerate(lines):
        if not verdict:
            axis.text(0.01, place, name, transform=across, va="center", fontsize=8,
                      fontweight="bold")  # fmt: skip
            continue
        compared = verdict not in NOT_TESTED
        colour = VERDICT_COLOURS[verdict]
        axis.errorbar(mean, place, xerr=[[mean - low], [high - mean]] if compared else None,
                      fmt="o", markersize=4, color=colour, elinewidth=1.2,
                      markerfacecolor=colour if compared else "none")  # fmt: skip
    labels = [(place, line[0]) for place, line in enumerate(lines) if line[-1]]
    axis.set_yticks([place for place, _ in labels], [name for _, name in labels])
    axis.tick_params(axis="y", length=0)
    axis.locator_params(axis="x", nbins=5)  # long names leave little room
    axis.set(ylim=(len(lines) - 0.3, -0.7), xlabel="difference in AUROC")
    for verdict in verdicts_in(line[-1] for line in lines):
        axis.plot([], [], "o", color=VERDICT_COLOURS[verdict], label=verdict, markersize=4)
    canvas.legend(loc="outside lower center", ncols=5, columnspacing=1, handletextpad=0.3)


def _lines(answer: Answer, questions: Sequence[Question]) -> list[Line]:
    """Return a heading without verdict, and the comparisons, of each question and model."""
    lines: list[Line] = []
    for question in questions:
        comparisons = rows_of(answer.table, question)
        learner = comparisons["contender"].map(lambda name: parse_contender(name).learner)
        for model, rows in comparisons.groupby(learner, sort=False):
            heading = _HEADINGS[question].format(model=contender_name(str(model)))
            lines.append((heading, 0.0, 0.0, 0.0, ""))
            for row in rows.to_dict("records"):
                name = arm_name(row["contender"]) if question != BEND else "with splines"
                if question == ANY:
                    name += f" – {arm_name(row['reference'])}"
                ends = (row["mean"], row["low"], row["high"])
                lines.append((name, *ends, row["verdict"]))
    return lines


def subtype_profile(clustering: FoundClustering, classes: tuple[str, ...]) -> Figure:
    """Draw the features that set clusters apart, and the outcome in each of them."""
    shown = clustering.telling
    values = clustering.profile[:, shown].T.round(1) + 0.0  # no minus before a zero
    columns = [f"{s.number}\nn = {format_count(s.size)}" for s in clustering.subtypes]
    positive = _event(clustering, classes)
    rates = np.array(
        [[s.rates[positive], s.low[positive], s.high[positive]] for s in clustering.subtypes]
    )

    def draw(canvas: Canvas) -> None:
        heat, bars = canvas.subplots(1, 2, width_ratios=[2.2, 1])
        _heat(heat, values, [clustering.names[f].replace("=", " = ") for f in shown], columns)
        _bars(bars, rates, classes[positive])

    return Figure(
        id=f"profile_{clustering.arm}",
        title="What is in the subtypes",
        caption="Left: mean of each feature in the subtype, in standard deviations from the mean "
        "of all rows; the features with the largest distances. Right: the outcome, with 95 % "
        "intervals. Withheld: groups of fewer than eight rows.",
        section="subtypes",
        size=(8.6, 1.3 + 0.26 * max(len(shown), 3)),
        draw=draw,
        head=("feature", *(str(s.number) for s in clustering.subtypes)),
        data=[(clustering.names[f], *map(float, clustering.profile[:, f])) for f in shown],
        as_drawn=True,
    )


def _heat(axis: Axes, values: Array, names: list[str], columns: list[str]) -> None:
    image = axis.imshow(values, cmap="RdBu_r", vmin=-_CLEAR / 2, vmax=_CLEAR / 2, aspect="auto")
    colours = image.to_rgba(values)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            axis.text(j, i, minus(signed(value, 1)), ha="center", va="center", fontsize=8,
                      color=ink_on(colours[i, j, :3]))  # fmt: skip
    axis.set_yticks(range(len(names)), names)
    axis.set_xticks(range(len(columns)), columns)
    axis.set(xlabel="subtype")
    axis.grid(visible=False)


def _bars(axis: Axes, rates: Array, event: str) -> None:
    """Draw a rate with its interval for each subtype, or that it is withheld."""
    place = np.arange(len(rates))
    axis.barh(place, rates[:, 0], color=PALETTE[0], height=0.55)
    errors = np.abs(rates[:, 1:].T - rates[:, 0])
    axis.errorbar(rates[:, 0], place, xerr=errors, fmt="none", ecolor="#1c2430", elinewidth=1)
    for j in np.flatnonzero(np.isnan(rates[:, 0])).tolist():
        axis.text(0.02, j, WITHHELD, va="center", fontsize=8)
    axis.set_yticks(place, [str(j + 1) for j in place])
    axis.set(xlim=(0, 1), ylim=(len(rates) - 0.5, -0.5), ylabel="subtype")
    axis.set_xlabel(f"share of {event}")
    axis.grid(visible=False, axis="y")


def _event(clustering: FoundClustering, classes: tuple[str, ...]) -> int:
    """Return the positive class of two; of more the rarest that is shown in every subtype."""
    mean = np.mean([s.rates for s in clustering.subtypes], axis=0)
    return 1 if len(classes) == 2 or np.isnan(mean).all() else int(np.nanargmin(mean))


def missingness(columns: Sequence[EncodedColumn], n: int) -> Figure | None:
    """Draw the rounded share of `n` rows that miss a value, by column."""
    holes = [column for column in columns if column.missing >= FEW]
    named = ((float(round_share(column.missing, n)), column.name) for column in holes)
    shares = sorted(named, reverse=True)[:30]
    if not shares:
        return None
    names = [name for _, name in shares]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.barh(range(len(names)), [share for share, _ in shares], color=PALETTE[0], height=0.7)
        axis.set_yticks(range(len(names)), names)
        axis.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), xlabel="share missing")
        axis.grid(visible=False, axis="y")

    return Figure(
        id="missing",
        title="Missing values",
        caption="Share of rows without a value, before any imputation; at most 30 columns.",
        section="cohort",
        size=(6.5, 0.9 + 0.2 * len(names)),
        draw=draw,
        head=("column", "share_missing"),
        data=[(name, share) for share, name in shares],
    )
