"""Pictures of one run's subtypes: what sets them apart, where rows lie, a network's latents."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator
from sklearn.metrics import silhouette_score

from deepcac.pages.drawing import GREY, draw_groups
from deepcac.pages.figures import MARKERS, PALETTE, Figure
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.records.studies import CaseStudy
from deepcac_study.report.data.planted_truth import plane
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.runtables import protocol_label
from deepcac_study.report.subtypes.subtype_numbers import SubtypeVariable
from deepcac_study.report.subtypes.subtype_tables import UnseenRows

COLOURS = (*PALETTE[:6], GREY)  # of the subtypes, here and on the page
WIDEST = 3.0  # standard deviations: the end of a profile's axis
_MOST = 1500  # rows on the map
_SOUND = "embedding_sound_"
_RIGHT = (
    " Right: rows on the first two principal components of their features, in the same "
    "colours; clusters that live in a network's latents need not lie apart here."
)
_OUTCOME = ("#9aa0a6", "#D55E00", "#000000", "#CC79A7")  # by class; the first is most often many

Map = tuple[Array, Ids]  # places of rows on a plane, and their clusters


@dataclass(frozen=True)
class ProfileLine:
    """One variable of the picture: its full name with unit, and a difference a subtype."""

    name: str
    differences: tuple[float, ...]


def profile_lines(rows: UnseenRows, shown: Sequence[SubtypeVariable]) -> list[ProfileLine]:
    """Return how far the subtypes lie apart in some variables."""
    return [
        ProfileLine(
            f"{v.name}{f' [{v.unit}]' if v.unit else ''}",
            tuple(v.difference(rows.cluster == j) for j in range(rows.k)),
        )
        for v in shown
    ]


def subtype_map(rows: UnseenRows, X: Array) -> Map:
    """Return the plane of up to 1,500 rows, evenly taken, and their clusters; X: their features."""
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST)).astype(np.int64))
    return plane(X[chosen]), rows.cluster[chosen]


def subtype_figure(
    name: str, title: str, lines: Sequence[ProfileLine], where: Map | None, *, synthetic: bool
) -> Figure:
    """Return the profile of the subtypes, and their map beside it where one may be shown.

    The map has places and clusters of rows, and is None for restricted data.
    """
    k = len(lines[0].differences)

    def draw(canvas: Canvas) -> None:
        if where is None:
            _profile(canvas.subplots(), lines, k)
            return
        left, right = canvas.subplots(1, 2, width_ratios=[1.25, 1])
        _profile(left, lines, k)
        draw_groups(right, *where, colours=COLOURS)
        right.set(ylabel="second component")

    wide = declared_figure(
        "subtype_profile",
        size=(11.2 if where else 7.2, 1.2 + 0.27 * len(lines)),
        draw=draw,
        data=[(line.name, *line.differences) for line in lines],
        seen=". ".join(_line_phrase(line) for line in lines[:3]),
        name=name,
        title=title,
        right=_RIGHT if where else "",
        section="synthetic" if synthetic else "subtypes",
        columns=[f"subtype {j + 1}" for j in range(k)],
    )
    narrow = replace(
        wide,
        id=f"{wide.id}_narrow",
        size=(4.2, 1.2 + 0.42 * len(lines)),
        draw=lambda canvas: _profile(canvas.subplots(), lines, k, above=True),
    )
    return replace(wide, narrow=narrow)


def _line_phrase(line: ProfileLine) -> str:
    parts = (
        f"subtype {j + 1} {d:+.1f}" if d == d else f"subtype {j + 1} not measured"
        for j, d in enumerate(line.differences)
    )
    return f"{line.name}: {', '.join(parts)}"


def _look(j: int) -> dict[str, Any]:
    return {"color": COLOURS[j % len(COLOURS)], "marker": MARKERS[j % len(MARKERS)]}


def _profile(axis: Axes, lines: Sequence[ProfileLine], k: int, *, above: bool = False) -> None:
    """Draw the differences; names stand left of the lines, or above them where that is narrow."""
    axis.axvline(0, color="#888888", linewidth=0.8)
    for j in range(k):
        places = np.arange(len(lines)) + 0.16 * (j - (k - 1) / 2)
        values = np.clip([line.differences[j] for line in lines], -WIDEST, WIDEST)
        axis.plot(
            values, places, linestyle="none", markersize=5, label=f"subtype {j + 1}", **_look(j)
        )
        for line, value, place in zip(lines, values, places, strict=True):
            if abs(difference := line.differences[j]) > WIDEST:
                axis.annotate(
                    f"{difference:+.1f}", (value, place), xytext=(-6 if value > 0 else 6, 0),
                    textcoords="offset points", ha="right" if value > 0 else "left", va="center",
                    fontsize="x-small",
                )  # fmt: skip
    axis.set_yticks(range(len(lines)), ["" if above else line.name for line in lines])
    for place, line in enumerate(lines if above else ()):
        axis.text(0, place - 0.32, line.name, transform=axis.get_yaxis_transform(), fontsize=8)
    axis.set(ylim=(len(lines) - 0.5, -0.7), xlabel="difference, standard deviations")
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(k, 4))


def embedding_figures(studies: Sequence[CaseStudy], hidden: Collection[str] = ()) -> list[Figure]:
    """Return a map for each case study whose latents were kept.

    Data sets that are `hidden` are restricted: none of their rows is shown.
    """
    return [
        _latent_map(study, study.plane)
        for study in studies
        if study.plane is not None and len(study.plane) and study.subject[0] not in hidden
    ]


def of_pages(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Return the maps of sound runs by the id of the run's page of subtypes."""
    maps = {}
    for figure in figures:
        dataset, _, k = figure.id.removeprefix(_SOUND).rpartition("_k")
        if figure.id.startswith(_SOUND):
            maps[f"subtypes_{dataset}_{DEEPCAC}_k{k}"] = figure
    return maps


def _latent_map(study: CaseStudy, plane: pd.DataFrame) -> Figure:
    dataset, k = study.subject
    return declared_figure(
        "embedding",
        size=(9.0, 4.0),
        draw=lambda canvas: _draw_latents(canvas, plane, k),
        data=[
            (float(x), float(y), int(cluster) + 1, int(label))
            for x, y, cluster, label in plane[["x", "y", "cluster", "label"]].to_numpy().tolist()
        ],
        seen=_latent_seen(plane),
        protocol=study.protocol,
        name=study.name,
        dataset=dataset,
        k=k,
        protocol_label=protocol_label(study.protocol),
        section="synthetic" if study.synthetic else "subtypes",
    )


def _latent_seen(plane: pd.DataFrame) -> str:
    sizes = np.bincount(plane["cluster"])
    listed = ", ".join(f"subtype {j + 1} with {n:,}" for j, n in enumerate(sizes) if n)
    if np.count_nonzero(sizes) < 2:
        return f"{listed} rows"
    apart = silhouette_score(plane[["x", "y"]].to_numpy(), plane["cluster"].to_numpy())
    return f"{listed} rows; silhouette of the subtypes on the map {apart:.2f}"


def _draw_latents(canvas: Canvas, plane: pd.DataFrame, k: int) -> None:
    axes = canvas.subplots(1, 2, sharex=True, sharey=True)
    classes = int(plane["label"].max()) + 1
    names = [f"subtype {j + 1}" for j in range(k)], [f"class {c}" for c in range(classes)]
    looks = ("cluster", names[0], COLOURS), ("label", names[1], _OUTCOME)
    for axis, (column, listed, colours) in zip(axes, looks, strict=True):
        counts = np.bincount(plane[column], minlength=len(listed))
        shown = [f"{name} ({n:,})" for name, n in zip(listed, counts, strict=True)]
        places = plane[["x", "y"]].to_numpy()
        draw_groups(axis, places, plane[column].to_numpy(), shown, colours)
    axes[0].set(ylabel="second component")
