"""Maps of a network's latent space: its subtypes, and the outcome, at the same places."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import silhouette_score

from deepcac.pages.figures import Figure
from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.experiments.finished_studies import CaseStudy
from deepcac_study.report.runtables import protocol_label
from deepcac_study.report.subtype_figures import COLOURS, MARKS

_SOUND = "embedding_sound_"
_OUTCOME = ("#9aa0a6", "#D55E00", "#000000", "#CC79A7")  # by class; the first is most often many


def embedding_figures(studies: Sequence[CaseStudy], hidden: Collection[str] = ()) -> list[Figure]:
    """Return a map for each case study whose latents were kept.

    Data sets that are `hidden` are restricted: none of their rows is shown.
    """
    return [
        _figure(study, study.plane)
        for study in studies
        if study.plane is not None and len(study.plane) and study.subject[0] not in hidden
    ]


def of_pages(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Return the maps of sound runs by the id of the run's page of subtypes."""
    found = {}
    for figure in figures:
        dataset, _, k = figure.id.removeprefix(_SOUND).rpartition("_k")
        if figure.id.startswith(_SOUND):
            found[f"subtypes_{dataset}_{DEEPCAC}_k{k}"] = figure
    return found


def _figure(study: CaseStudy, plane: pd.DataFrame) -> Figure:
    dataset, k = study.subject
    return Figure(
        id=f"embedding_{study.protocol}_{study.name}",
        title=f"DeepCAC's latent space: {dataset}, k = {k}, {protocol_label(study.protocol)}",
        caption="Test rows of the first split on the first two principal components of their "
        "latents. Left: subtypes, with the colours and numbers of the run's page. Right: the same "
        "places by the class of the outcome.",
        section="synthetic" if study.synthetic else "subtypes",
        size=(9.0, 4.0),
        draw=lambda canvas: _draw(canvas, plane, k),
        head=("x", "y", "subtype", "class"),
        data=[
            (float(x), float(y), int(cluster) + 1, int(label))
            for x, y, cluster, label in plane[["x", "y", "cluster", "label"]].to_numpy().tolist()
        ],
        seen=_seen(plane),
    )


def _seen(plane: pd.DataFrame) -> str:
    sizes = np.bincount(plane["cluster"])
    said = ", ".join(f"subtype {j + 1} with {n:,}" for j, n in enumerate(sizes) if n)
    if np.count_nonzero(sizes) < 2:
        return f"{said} rows"
    apart = silhouette_score(plane[["x", "y"]].to_numpy(), plane["cluster"].to_numpy())
    return f"{said} rows; silhouette of the subtypes on the map {apart:.2f}"


def _draw(canvas: Canvas, plane: pd.DataFrame, k: int) -> None:
    left, right = canvas.subplots(1, 2, sharex=True, sharey=True)
    _scatter(left, plane, "cluster", COLOURS, [f"subtype {j + 1}" for j in range(k)])
    classes = int(plane["label"].max()) + 1
    _scatter(right, plane, "label", _OUTCOME, [f"class {c}" for c in range(classes)])
    left.set(ylabel="second component")


def _scatter(
    axis: Axes, plane: pd.DataFrame, column: str, colours: Sequence[str], names: Sequence[str]
) -> None:
    for j, name in enumerate(names):
        own = plane[plane[column] == j]
        axis.scatter(
            own["x"],
            own["y"],
            s=9,
            alpha=0.6,
            linewidth=0,
            rasterized=True,
            color=colours[j % len(colours)],
            marker=MARKS[j % len(MARKS)],
            label=f"{name} ({np.count_nonzero(plane[column] == j):,})",
        )
    axis.set(xlabel="first component")
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(names), 3))
