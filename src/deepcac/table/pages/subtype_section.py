"""The part of a comparison's page about subtypes: which clusters, how stable, what is in them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import adjusted_rand_score

from deepcac.judging.contenders import CAC, KM
from deepcac.pages.drawing import draw_heat
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.pages.wording import minus
from deepcac.scoring.censored import (
    FollowUp,
    KaplanMeier,
    incidence_curve,
    kaplan_meier,
)
from deepcac.scoring.small_cells import OTHERS, WITHHELD, Count, OfSome, Rule, Share, withheld
from deepcac.table.answer import signed
from deepcac.table.found_subtypes import FoundClustering, Subtype, single_column
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.column_tables import difference_blocks

_WORDS = (
    (0.8, "stable"),
    (0.6, "moderately stable"),
    (-1.0, "unstable, so they are not described"),
)
_ALIKE = 0.99  # adjusted Rand index from which two clusterings are shown once
_HOW = (
    "Clusters of all rows, made again after the comparison: the number of clusters (and alpha of "
    "CAC) whose models were best on validation rows, the fewer clusters where two choices are as "
    "good. A subtype is a group of similar rows; it is no diagnosis, and a difference in outcome "
    "is no cause."
)


def subtype_section(table: LabelledTable, clusterings: list[FoundClustering]) -> Section:
    """Return the section on the clusterings; two that are nearly equal are shown once."""
    agreement = adjusted_rand_score(*(clustering.label for clustering in clusterings))
    shown = [clustering for clustering in clusterings if agreement < _ALIKE or clustering.arm == KM]
    nearly = "" if agreement == 1 else "nearly "
    alike = (
        f"The two clusterings agree with an adjusted Rand index of {agreement:z.2f}."
        if len(shown) > 1
        else f"CAC finds {nearly}the same clusters as k-means, so they are shown once."
    )
    sections = [_clustering(clustering, table) for clustering in shown]
    return Section("subtypes", "Subtypes", [f"{_HOW} {alike}", *sections])


def _described(clustering: FoundClustering) -> bool:
    """Return whether a clustering comes again on other rows."""
    return clustering.stability >= _WORDS[1][0]


def _clustering(clustering: FoundClustering, table: LabelledTable) -> Section:
    way, arm = ("CAC" if clustering.arm == CAC else "k-means"), clustering.arm
    word = next(word for least, word in _WORDS if clustering.stability >= least)
    note = (
        f"We made these {len(clustering.subtypes)} clusters again on the training rows of "
        f"resamples; they agree with an adjusted Rand index of {clustering.stability:z.2f} "
        f"(1: always the same rows together, 0: chance): {word}. The models in them have a "
        "validation AUROC of "
        f"{clustering.validation:.3f}."
    )
    if arm == CAC:
        note += (
            f" CAC (alpha {clustering.alpha:g}) looks at the labels when it clusters, so outcomes "
            "here are not those that new rows of a subtype will have."
        )
    column = single_column(table, clustering.label)
    if column is not None:
        note += f" They are the column {column}: it tells every row's subtype."
    title = f"{len(clustering.subtypes)} subtypes by {way}"
    described = _description(clustering, table, title) if _described(clustering) else []
    return Section(f"subtypes-by-{arm}", title, [note, *described])


def _description(clustering: FoundClustering, table: LabelledTable, title: str) -> list[Block]:
    """Return what is in each subtype."""
    arm, names = clustering.arm, [f"subtype {s.number}" for s in clustering.subtypes]
    head = ("subtype", "what sets it apart", "rows", "share", *table.shown_classes)
    rows = [_subtype(subtype, len(clustering.label)) for subtype in clustering.subtypes]
    telling = [clustering.names[f] for f in clustering.telling]
    blocks: list[Block] = [
        Table.of_texts(f"subtypes-{arm}", title, head, rows, n_labels=2),
        subtype_profile(clustering),
        *(survival_blocks(table.follow, clustering) if table.follow is not None else []),
        "The same features in their own units: the median in each subtype, of a level its share.",
        Table.of_texts(
            f"profile-{arm}", "Values", ("feature", *names), _values(clustering, table, telling)
        ),
    ]
    return blocks + difference_blocks(f"differences-{arm}", table, clustering.label, names)


def _subtype(subtype: Subtype, n: int) -> tuple[str, ...]:
    size = (Count(subtype.size), Share(subtype.size, n))
    return (str(subtype.number), subtype.name, *size, *(rate.text for rate in subtype.rates))


def _values(
    clustering: FoundClustering, table: LabelledTable, names: list[str]
) -> list[tuple[str, ...]]:
    """Return the median of each number in each subtype, in its own unit; of a level its share.

    Of few values nothing is shown.
    """
    place = {name: j for j, name in enumerate(table.features.names)}
    lines = []
    for name in names:
        flag = name not in place  # a column of the table may itself be called ..._missing
        column = table.features.X[:, place[name.removesuffix("_missing") if flag else name]]
        column = np.isnan(column).astype(float) if flag else column
        level = flag or name in table.encoder.level_names
        cells = [
            column[(clustering.label == j) & ~np.isnan(column)]
            for j in range(len(clustering.subtypes))
        ]
        shown = [
            Share(int(part.sum()), len(part))
            if level
            else OfSome(_plain(float(np.median(part))), len(part))
            if len(part)
            else WITHHELD
            for part in cells
        ]
        lines.append((_spaced(name, table), *shown))
    return lines


def _plain(value: float) -> str:
    """Return a number without an exponent, with four digits or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _spaced(name: str, table: LabelledTable) -> str:
    return name.replace("=", " = ", 1) if name in table.encoder.level_names else name


_CLEAR = 1.5  # standard deviations at which the colour is full


def subtype_profile(clustering: FoundClustering) -> Figure:
    """Draw the features that set clusters apart."""
    shown = clustering.telling
    values = clustering.profile[:, shown].T.round(1) + 0.0  # no minus before a zero

    def draw(canvas: Canvas) -> None:
        heat = canvas.subplots()
        names = [clustering.names[f].replace("=", " = ") for f in shown]
        clear: Any = {"ends": (-_CLEAR, _CLEAR), "write": lambda value: minus(signed(value, 1))}
        draw_heat(heat, values, names, [s.number for s in clustering.subtypes], **clear)
        heat.set(xlabel="subtype")

    return Figure(
        id=f"profile_{clustering.arm}",
        title="What is in the subtypes",
        caption="Mean of each feature in the subtype, in standard deviations from the mean of all "
        "rows; the features with the largest distances.",
        size=(6.2, 1.1 + 0.26 * max(len(shown), 3)),
        draw=draw,
        as_drawn=True,
    )


QUARTERS = 4  # of the horizon, where numbers at risk are told
POINTS = 25  # of a curve, so that no single event can be read from it


def survival_blocks(follow: FollowUp, clustering: FoundClustering) -> list[Block]:
    """Return curves of the subtypes, and the numbers at risk.

    None of a subtype whose rates are withheld.
    """
    parts = [
        (subtype, follow.take(clustering.label == subtype.number - 1))
        for subtype in clustering.subtypes
    ]

    def hidden(subtype: Subtype, rule: Rule) -> bool:
        return bool(np.isnan([rate.under(rule) for rate in subtype.rates]).any())

    moments = np.linspace(0, follow.horizon, QUARTERS + 1)
    rows = [
        (
            str(subtype.number),
            *(
                withheld(Count(int((part.time >= moment).sum())), partial(hidden, subtype))
                for moment in moments
            ),
        )
        for subtype, part in parts
    ]

    def figure(rule: Rule) -> Figure:
        # The share without the event: with competing ones that of Aalen and Johansen.
        curves = {
            subtype.number: kaplan_meier(part.time, part.event)
            if part.other is None
            else incidence_curve(part)
            for subtype, part in parts
            if not hidden(subtype, rule)
        }
        return survival_figure(curves, clustering.arm, follow.horizon, rule)

    head = ("subtype", *(f"at risk at {moment:g}" for moment in moments))
    title = f"Subtypes by {'CAC' if clustering.arm == CAC else 'k-means'}, at risk"
    return [figure, Table.of_texts(f"at-risk-{clustering.arm}", title, head, rows)]


def survival_figure(
    curves: Mapping[int, KaplanMeier], arm: str, horizon: float, rule: Rule
) -> Figure:
    """Draw the share of patients without the event, a curve a subtype, by its number."""
    moments = np.linspace(0, horizon, POINTS)
    lines = {number: _survival_at(curve, moments, rule) for number, curve in curves.items()}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, (number, (shown, survival)) in enumerate(lines.items()):
            style: Any = {"color": PALETTE[place % 7], "linestyle": LINES[place % len(LINES)]}
            axis.step(shown, survival, where="post", label=f"subtype {number}", **style)
        axis.set(xlim=(0, horizon), ylim=(0, 1.02), xlabel="time", ylabel="without the event")
        if lines:
            axis.legend(loc="lower left")

    return Figure(
        id=f"survival_{arm}",
        title="Without the event, by subtype",
        caption=f"At {POINTS} times, by Kaplan and Meier, with competing events by Aalen and "
        f"Johansen; a curve ends where fewer than {rule.few} patients are at risk"
        + f", and falls by {rule.few} events or more at once." * (rule.few > 1)
        + "." * (rule.few <= 1),
        size=(6.5, 3.6),
        draw=draw,
    )


def _survival_at(curve: KaplanMeier, moments: Any, rule: Rule = OTHERS) -> tuple[Any, Any]:
    """Return the times at which enough patients are at risk, and the survival there.

    It falls only where a cell of patients or more had the event since it fell last, and by the end.
    """
    place = np.searchsorted(curve.time, moments, side="left")
    at_risk = np.append(curve.at_risk, 0)[place]
    few = rule.few
    shown = moments[at_risk >= few]
    events = np.append(0, np.cumsum(curve.events))
    seen = events[np.searchsorted(curve.time, moments, side="right")]
    falls = [0.0]
    for moment, so_far in zip(shown, seen, strict=False):
        last = events[np.searchsorted(curve.time, falls[-1], side="right")]
        if so_far - last >= few and (seen[-1] == so_far or seen[-1] - so_far >= few):
            falls.append(float(moment))
    latest = np.array(falls)[np.searchsorted(falls, shown, side="right") - 1]
    return shown, np.where(latest > 0, curve.at(latest), 1.0)
