"""Figures 1 to 3 of class decomposition from runs of the method on generated rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from sklearn.svm import SVC

from deepcac.decomposition import ClassDecompositionClassifier, PairwiseLinearSVC
from deepcac.pages.figures import PALETTE, Figure

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

SECTION = "decomposition"
_CENTRES = ((-1.6, 1.2), (1.9, -0.6), (0.0, 0.0))  # two clusters of one class, one of the other
_SPREAD = (0.55, 0.55, 0.45)
_CLASS = (0, 0, 1)
_SIZES = (40, 30, 60)
_DEGREE = 9
_EDGE = 3.4
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


def _models(X: Array, y: Ids, decomposed: ClassDecompositionClassifier) -> dict[str, Any]:
    bent = SVC(kernel="poly", degree=_DEGREE, coef0=1.0, C=1e4)
    return {
        "linear": PairwiseLinearSVC().fit(X, y),
        f"polynomial of degree {_DEGREE}": bent.fit(X, y),
        "linear on clusters": decomposed,
    }


def _boundaries(X: Array, y: Ids, decomposed: ClassDecompositionClassifier) -> Figure:
    models = _models(X, y, decomposed)
    new = _rows(2)
    shares = {name: (m.score(X, y), m.score(*new)) for name, m in models.items()}
    panels = (("linear", f"polynomial of degree {_DEGREE}"), ("linear on clusters",))

    def draw(canvas: Canvas) -> None:
        for axis, names in zip(canvas.subplots(1, 2, sharey=True), panels, strict=True):
            _scatter(axis, X, y)
            for name, style in zip(names, ("solid", "dashed"), strict=False):
                _boundary(axis, models[name], style)
            lines = [
                f"{name}: {a:.0%}, new rows {b:.0%}" for name in names for a, b in [shares[name]]
            ]
            axis.set(title="\n".join(lines), xticks=[], yticks=[])
            axis.grid(False)

    return Figure(
        id="decomposition_boundaries",
        title="More bends or more lines (as class decomposition's Figure 1)",
        caption="Generated rows of two classes, one of them in two clusters. Left: one linear "
        f"boundary (solid) and a polynomial of degree {_DEGREE} (dashed). Right: the boundaries of "
        "linear machines, one against one, on the clusters that EM finds and the greedy search "
        "keeps. In the titles the share of rows that are right, of those shown and of as many new "
        "ones.",
        section=SECTION,
        size=(8.6, 4.2),
        draw=draw,
        head=("x1", "x2", "class", *(name.replace(" ", "_") for name in models)),
        data=[
            (float(a), float(b), int(label), *(int(own[i]) for own in found))
            for found in [[model.predict(X) for model in models.values()]]
            for i, ((a, b), label) in enumerate(zip(X, y, strict=True))
        ],
    )


def _mapping(X: Array, y: Ids, decomposed: ClassDecompositionClassifier) -> Figure:
    clusters = decomposed.clusters_

    def draw(canvas: Canvas) -> None:
        before, after = canvas.subplots(1, 2, sharey=True)
        _scatter(before, X, y)
        before.set(title="classes")
        for name, own in _pairs(y, clusters).items():
            label, cluster = name
            after.scatter(
                *X[own].T,
                s=16,
                marker=_MARKERS[cluster % len(_MARKERS)],
                color=PALETTE[label],
                alpha=1.0 - 0.25 * (cluster % 3),
                label=f"({_SIGNS[label]}, {cluster + 1})",
            )
        after.set(title="classes and clusters")
        after.legend()
        for axis in (before, after):
            axis.set(xticks=[], yticks=[])
            axis.grid(False)

    return Figure(
        id="decomposition_mapping",
        title="Each class is clustered, and its rows are relabelled (as class decomposition's "
        "Figures 2 and 3)",
        caption="What Algorithm 1 makes of generated rows: EM, its number of clusters by "
        "cross-validated likelihood, run on each class alone; a label is then the class and the "
        "cluster.",
        section=SECTION,
        size=(8.6, 3.8),
        draw=draw,
        head=("x1", "x2", "class", "cluster"),
        data=[
            (float(a), float(b), int(label), int(cluster) + 1)
            for (a, b), label, cluster in zip(X, y, clusters, strict=True)
        ],
    )


def _pairs(y: Ids, clusters: Ids) -> dict[tuple[int, int], npt.NDArray[np.bool_]]:
    names = sorted(set(zip(y.tolist(), clusters.tolist(), strict=True)))
    return {(a, b): (y == a) & (clusters == b) for a, b in names}


def _scatter(axis: Axes, X: Array, y: Ids) -> None:
    for label, sign in enumerate(_SIGNS):
        own = y == label
        across, down = X[own].T
        marker = "+" if sign == "+" else "_"
        axis.scatter(across, down, s=22, marker=marker, color=PALETTE[label])


def _boundary(axis: Axes, model: Any, style: str) -> None:
    ticks = np.linspace(-_EDGE, _EDGE, 281)
    across, down = np.meshgrid(ticks, ticks)
    found = model.predict(np.column_stack([across.ravel(), down.ravel()]))
    axis.contour(
        across, down, found.reshape(across.shape), levels=[0.5], colors="black", linestyles=style
    )
