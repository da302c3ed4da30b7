"""Figures 1 to 4 of class decomposition from runs of the method on generated rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from sklearn.svm import SVC

from deepcac.decomposition import PairwiseLinearSVC
from deepcac.decomposition.classifier import ClassDecompositionClassifier, Search
from deepcac.pages.figures import PALETTE, Figure
from deepcac.types import Array, Ids
from deepcac_study.report.declarations import declared_figure
from deepcac_study.simulate.merging_case import MergingCase, merging_case

_CENTRES = ((-1.6, 1.2), (1.9, -0.6), (0.0, 0.0))  # two clusters of one class, one of the other
_SPREAD = (0.55, 0.55, 0.45)
_CLASS = (0, 0, 1)
_SIZES = (40, 30, 60)
_DEGREE = 9
_EDGE, _CASE_EDGE = 3.4, 3.5  # of the drawn squares
_MARKERS = ("o", "s", "D", "^", "v")
_SIGNS = ("+", "-")


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
        for label, cluster in sorted(set(zip(y.tolist(), clusters.tolist(), strict=True))):
            after.scatter(
                *X[(y == label) & (clusters == cluster)].T,
                s=16,
                marker=_MARKERS[cluster % len(_MARKERS)],
                color=PALETTE[label],
                alpha=1.0 - 0.25 * (cluster % 3),
                label=f"({_SIGNS[label]}, {cluster + 1})",
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
    """Return the rows of a figure: two features, then the class and whatever else each has."""
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
    """Return places of a square, across and down, and the class that is predicted there."""
    ticks = np.linspace(-edge, edge, 281)
    across, down = np.meshgrid(ticks, ticks)
    predicted = model.predict(np.column_stack([across.ravel(), down.ravel()]))
    return across, down, predicted.reshape(across.shape)


def merging_figure() -> Figure:
    """Return the classifier alone, with all clusters, and as the greedy search merges them."""
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
        for cluster, marker in enumerate(_MARKERS[:3]):
            members = (case.y == label) & (case.clusters == cluster)
            across, down = case.X[members].T
            axis.scatter(across, down, s=9, marker=marker, color=PALETTE[label], linewidth=0)
