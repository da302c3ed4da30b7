"""The papers' drawings that explain a method, redrawn: one computed, one drawn."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.pages.figures import PALETTE, Figure
from deepcac.types import Array, Ids
from deepcac_study.report.declarations import declared_figure

_ALPHAS = (0.3, 0.8)
_MARKERS = {0: "o", 1: "^"}
# Centre, width and text of each box of DeepCAC, and which boxes are joined.
_BOXES = {
    "x": (0.5, 1.0, "patient\nx"),
    "encoder": (2.2, 1.4, "encoder\nd – 64 – 32"),
    "z": (4.0, 1.2, "embedding\nz"),
    "decoder": (5.9, 1.4, "decoder\n32 – 64 – d"),
    "clusters": (5.9, 1.4, "centroids\nμ1 … μk"),
    "classes": (5.9, 1.4, "class vectors\nw (AM-softmax)"),
    "local": (8.3, 1.6, "local predictor\nof the nearest\ncluster"),
    "risk": (10.4, 1.0, "risk"),
}
_HEIGHT = {"decoder": 1.2, "clusters": 0.0, "classes": -1.2}
_ARROWS = (
    ("x", "encoder"),
    ("encoder", "z"),
    ("z", "decoder"),
    ("z", "clusters"),
    ("z", "classes"),
    ("clusters", "local"),
    ("local", "risk"),
)


def schematic_figures() -> list[Figure]:
    """Return CAC on a toy example (CAC v1 Figure 1) and the parts of DeepCAC (Figure 2)."""
    return [_toy(), _architecture()]


def _toy() -> Figure:
    rng = np.random.default_rng(5)
    y = np.tile([0, 0, 1], 14)
    X = rng.normal(0, 0.55, (42, 2)) + np.repeat([[0.0, 0.0], [1.6, 0.4]], 21, axis=0)
    X[:, 1] += 0.9 * y
    start = kmeans_labels(X, 2, 0)
    clusterings = [cluster(X, y, start, alpha) for alpha in _ALPHAS]
    panels = [
        ("k-means", start),
        *(
            (f"CAC, α = {a}", clustering.labels)
            for a, clustering in zip(_ALPHAS, clusterings, strict=True)
        ),
    ]

    def draw(canvas: Canvas) -> None:
        for axis, (title, labels) in zip(canvas.subplots(1, 3), panels, strict=True):
            _scatter(axis, X, y, labels, labels != start)
            axis.set(title=title, xticks=[], yticks=[])

    return declared_figure(
        "schematic_cac",
        size=(10, 3.2),
        draw=draw,
        data=[
            (float(a), float(b), int(c), *(int(label) for label in labels))
            for (a, b), c, *labels in zip(
                X, y, start, *(clustering.labels for clustering in clusterings), strict=True
            )
        ],
        columns=(f"cac_{alpha}" for alpha in _ALPHAS),
    )


def _scatter(axis: Axes, X: Array, y: Ids, labels: Ids, moved: npt.NDArray[np.bool_]) -> None:
    for j in np.unique(labels):
        for c, marker in _MARKERS.items():
            members = (labels == j) & (y == c)
            axis.scatter(
                X[members, 0], X[members, 1], marker=marker, s=26, color=PALETTE[int(j)], alpha=0.8
            )
        means = np.array([X[(labels == j) & (y == c)].mean(axis=0) for c in _MARKERS])
        axis.plot(*means.T, color=PALETTE[int(j)], marker="X", markersize=10, markeredgecolor="w")
    axis.scatter(X[moved, 0], X[moved, 1], s=110, facecolor="none", edgecolor="black")


def _architecture() -> Figure:
    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for name, (x, width, text) in _BOXES.items():
            y = _HEIGHT.get(name, 0.0)
            box = FancyBboxPatch(
                (x - width / 2, y - 0.38), width, 0.76, "round,pad=0.06", fc="#eef3f9", ec="#0b5cad"
            )
            axis.add_patch(box)
            axis.text(x, y, text, ha="center", va="center", fontsize=8)
        for first, second in _ARROWS:
            ends = (_side(first, 1), _side(second, -1))
            arrow = FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=10, color="#444444")
            axis.add_patch(arrow)
        axis.set(xlim=(-0.2, 11.1), ylim=(-1.9, 1.9))
        axis.set_axis_off()

    return declared_figure("schematic_deepcac", size=(9, 3), draw=draw, data=_ARROWS)


def _side(name: str, direction: int) -> tuple[float, float]:
    x, width, _ = _BOXES[name]
    return x + direction * (width / 2 + 0.08), _HEIGHT.get(name, 0.0)
