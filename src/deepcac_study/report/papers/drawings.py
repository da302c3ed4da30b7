"""The papers' illustrations of a method, redrawn from runs on generated rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.svm import SVC

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.decomposition import PairwiseLinearSVC
from deepcac.decomposition.classifier import ClassDecompositionClassifier, Search
from deepcac.pages.figures import MARKERS, PALETTE, Figure
from deepcac.types import Array, Ids
from deepcac_study.report.declarations import declared_figure
from deepcac_study.simulate.merging_case import MergingCase, merging_case

_ALPHAS = (0.3, 0.8)
_CLASS_MARKERS = "o^"
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
_CENTRES = ((-1.6, 1.2), (1.9, -0.6), (0.0, 0.0))  # two clusters of one class, one of the other
_SPREAD = (0.55, 0.55, 0.45)
_CLASS = (0, 0, 1)
_SIZES = (40, 30, 60)
_DEGREE = 9
_EDGE, _CASE_EDGE = 3.4, 3.5  # of the drawn squares
_SIGNS = ("+", "-")


def schematic_figures() -> list[Figure]:
    """Return figures of CAC on a toy example (CAC v1 Figure 1) and of DeepCAC's architecture."""
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
            _draw_clusters(axis, X, y, labels, labels != start)
            axis.set(title=title, xticks=[], yticks=[])

    return declared_figure(
        "schematic_cac",
        size=(10, 3.2),
        draw=draw,
        data=_points(X, y, start, *(clustering.labels for clustering in clusterings)),
        columns=(f"cac_{alpha}" for alpha in _ALPHAS),
    )


def _draw_clusters(axis: Axes, X: Array, y: Ids, labels: Ids, moved: npt.NDArray[np.bool_]) -> None:
    for j in np.unique(labels):
        parts = [X[(labels == j) & (y == c)] for c in range(len(_CLASS_MARKERS))]
        look: Any = {"color": PALETTE[int(j)]}
        for marker, part in zip(_CLASS_MARKERS, parts, strict=True):
            axis.scatter(part[:, 0], part[:, 1], marker=marker, s=26, alpha=0.8, **look)
        means = np.array([part.mean(axis=0) for part in parts])
        axis.plot(*means.T, marker="X", markersize=10, markeredgecolor="w", **look)
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
    """Return where arrows leave (1) or enter (-1) a box."""
    x, width, _ = _BOXES[name]
    return x + direction * (width / 2 + 0.08), _HEIGHT.get(name, 0.0)


def boundary_figures() -> list[Figure]:
    """Return Figure 1, and Figures 2 and 3 in one."""
    X, y = _rows(0)
    decomposed = ClassDecompositionClassifier(PairwiseLinearSVC(), random_state=0)
    decomposed.fit(X, y, validation=_rows(1))
    return [_boundaries(X, y, decomposed), _mapping(X, y, decomposed)]


def _rows(seed: int) -> tuple[Array, Ids]:
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(centre, spread, size=(size, 2))
        for centre, spread, size in zip(_CENTRES, _SPREAD, _SIZES, strict=True)
    ]
    return np.vstack(parts), np.repeat(_CLASS, _SIZES)


def _boundaries(X: Array, y: Ids, decomposed: ClassDecompositionClassifier) -> Figure:
    bent = f"polynomial of degree {_DEGREE}"
    models: dict[str, Any] = {
        "linear": PairwiseLinearSVC().fit(X, y),
        bent: SVC(kernel="poly", degree=_DEGREE, coef0=1.0, C=1e4).fit(X, y),
        "linear on clusters": decomposed,
    }
    new = _rows(2)
    shares = {name: (m.score(X, y), m.score(*new)) for name, m in models.items()}
    panels = (("linear", bent), ("linear on clusters",))

    def draw(canvas: Canvas) -> None:
        for axis, names in zip(canvas.subplots(1, 2, sharey=True), panels, strict=True):
            _scatter(axis, X, y)
            for name, style in zip(names, ("solid", "dashed"), strict=False):
                ground = _predicted(models[name], _EDGE)
                axis.contour(*ground, levels=[0.5], colors="black", linestyles=style)
            lines = [
                f"{name}: {a:.0%}, new rows {b:.0%}" for name in names for a, b in [shares[name]]
            ]
            _bare(axis, "\n".join(lines))

    return declared_figure(
        "decomposition_boundaries",
        size=(8.6, 4.2),
        draw=draw,
        data=_points(X, y, *(model.predict(X) for model in models.values())),
        degree=_DEGREE,
        columns=(name.replace(" ", "_") for name in models),
    )


def _mapping(X: Array, y: Ids, decomposed: ClassDecompositionClassifier) -> Figure:
    clusters = decomposed.clusters_

    def draw(canvas: Canvas) -> None:
        before, after = canvas.subplots(1, 2, sharey=True)
        _scatter(before, X, y)
        for label, j in sorted(set(zip(y.tolist(), clusters.tolist(), strict=True))):
            after.scatter(
                *X[(y == label) & (clusters == j)].T,
                s=16,
                marker=MARKERS[j % len(MARKERS)],
                color=PALETTE[label],
                alpha=1.0 - 0.25 * (j % 3),
                label=f"({_SIGNS[label]}, {j + 1})",
            )
        after.legend()
        _bare(before, "classes")
        _bare(after, "classes and clusters")

    return declared_figure(
        "decomposition_mapping",
        size=(8.6, 3.8),
        draw=draw,
        data=_points(X, y, clusters + 1),
    )


def _points(X: Array, *ids: Ids) -> list[tuple[float, ...]]:
    """Return the data of a figure, a tuple per row: two features, then the class and other ids."""
    return [
        (float(a), float(b), *map(int, further)) for (a, b), *further in zip(X, *ids, strict=True)
    ]


def _scatter(axis: Axes, X: Array, y: Ids) -> None:
    for label, sign in enumerate(_SIGNS):
        members = y == label
        across, down = X[members].T
        marker = "+" if sign == "+" else "_"
        axis.scatter(across, down, s=22, marker=marker, color=PALETTE[label])


def _bare(axis: Axes, title: str) -> None:
    axis.set(title=title, xticks=[], yticks=[])
    axis.grid(False)


def _predicted(model: Any, edge: float) -> tuple[Array, Array, Array]:
    """Return the coordinates of a square grid, and the predicted class at each point."""
    ticks = np.linspace(-edge, edge, 281)
    across, down = np.meshgrid(ticks, ticks)
    predicted = model.predict(np.column_stack([across.ravel(), down.ravel()]))
    return across, down, predicted.reshape(across.shape)


def merging_figure() -> Figure:
    """Return the figure of a classifier without, with all, and with merged clusters."""
    case = merging_case()
    panels = {
        "classes as they are": _fit_case(case, np.zeros_like(case.clusters), "none"),
        "all clusters": _fit_case(case, case.clusters, "none"),
        "merged by the search": _fit_case(case, case.clusters, "greedy"),
    }

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 3, sharey=True)
        for axis, (title, model) in zip(axes, panels.items(), strict=True):
            ground = _predicted(model, _CASE_EDGE)
            axis.contourf(*ground, levels=[-0.5, 0.5, 1.5], colors=PALETTE[:2], alpha=0.18)
            _draw_case(axis, case)
            _bare(axis, f"{title}: {model.score(case.X, case.y):.0%}")

    return declared_figure(
        "merging_case",
        size=(9.6, 3.2),
        draw=draw,
        data=_points(case.X, case.y, case.clusters, *(m.predict(case.X) for m in panels.values())),
        columns=(name.replace(" ", "_") for name in panels),
    )


def _fit_case(
    case: MergingCase, clusters: npt.NDArray[np.int64], search: Search
) -> ClassDecompositionClassifier:
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), search=search)
    return model.fit(case.X, case.y, validation=(case.X, case.y), labels=clusters)


def _draw_case(axis: Axes, case: MergingCase) -> None:
    for label in (0, 1):
        for j, marker in enumerate(MARKERS[:3]):
            members = (case.y == label) & (case.clusters == j)
            across, down = case.X[members].T
            axis.scatter(across, down, s=9, marker=marker, color=PALETTE[label], linewidth=0)
