"""Figures of one run's subtypes: distinguishing variables, and a map of a network's latents."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import silhouette_score

from deepcac.pages.drawing import GREY, draw_groups, draw_heat
from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.wording import minus
from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.records.studies import CaseStudy
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.runtables import protocol_label

COLOURS = (*PALETTE[:6], GREY)  # of the subtypes
_CLEAR = 1.5  # standard deviations at which the colour is full
_SOUND = "embedding_sound_"
_OUTCOME = ("#9aa0a6", "#D55E00", "#000000", "#CC79A7")  # by class; the first is most often many


def subtype_figure(name: str, title: str, profile: pd.DataFrame, *, synthetic: bool) -> Figure:
    """Return the figure of a profile: one row per variable, one column per subtype."""
    wide = declared_figure(
        "subtype_profile",
        size=(4.2 + 0.9 * len(profile.columns), 0.7 + 0.27 * len(profile)),
        draw=lambda canvas: _draw_profile(canvas, profile),
        data=profile.reset_index().to_numpy().tolist(),
        seen=". ".join(_line_phrase(line) for line in profile[:3].itertuples()),
        name=name,
        title=title,
        section="synthetic" if synthetic else "subtypes",
        columns=profile.columns,
    )
    narrow = replace(
        wide,
        id=f"{wide.id}_narrow",
        size=(4.2, 0.7 + 0.46 * len(profile)),
        draw=lambda canvas: _draw_profile(canvas, profile, above=True),
    )
    return replace(wide, narrow=narrow)


def _draw_profile(canvas: Canvas, profile: pd.DataFrame, *, above: bool = False) -> None:
    """Draw the differences; names of variables are left of the cells, or with `above` on top."""
    axis, names, values = canvas.subplots(), list(profile.index), profile.to_numpy()
    if above:
        values = np.full((2 * len(names), values.shape[1]), np.nan)
        values[1::2] = profile
    signs: Any = {"ends": (-_CLEAR, _CLEAR), "write": lambda value: minus(f"{value:+.1f}")}
    draw_heat(axis, values, [] if above else names, [*profile.columns], **signs)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    for place, name in enumerate(names if above else ()):
        axis.text(-0.5, 2 * place, name, va="center", fontsize=9)


def _line_phrase(line: Sequence[Any]) -> str:
    name, *differences = line
    parts = (
        f"subtype {j + 1} {d:+.1f}" if d == d else f"subtype {j + 1} not measured"
        for j, d in enumerate(differences)
    )
    return f"{name}: {', '.join(parts)}"


def embedding_figures(studies: Sequence[CaseStudy], hidden: Collection[str] = ()) -> list[Figure]:
    """Return a map for each case study with stored latents.

    Data sets that are `hidden` are restricted, and left out.
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
