"""Figure 4 of class decomposition from a run of the method: some merges beat all and none."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.decomposition import PairwiseLinearSVC
from deepcac.decomposition.classifier import ClassDecompositionClassifier, Search
from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.simulate.merging_case import MergingCase, merging_case

Array = npt.NDArray[np.float64]

_MARKERS = ("o", "s", "D")
_EDGE = 3.5  # of the drawn square


def merging_figure() -> Figure:
    """Return the classifier alone, with all clusters, and as the greedy search merges them."""
    case = merging_case()
    panels = {
        "classes as they are": _fit(case, np.zeros_like(case.clusters), "none"),
        "all clusters": _fit(case, case.clusters, "none"),
        "merged by the search": _fit(case, case.clusters, "greedy"),
    }

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 3, sharey=True)
        for axis, (title, model) in zip(axes, panels.items(), strict=True):
            _regions(axis, model)
            _rows(axis, case)
            axis.set(title=f"{title}: {model.score(case.X, case.y):.0%}", xticks=[], yticks=[])
            axis.grid(False)

    return Figure(
        id="merging_case",
        title="Merging some clusters beats all and none (as class decomposition's Figure 4)",
        caption="Rows placed by hand: one class (blue) has three clusters, shown by their marks. "
        "Ground: the class that linear machines, one against one, predict; in the titles the share "
        "of rows that are right. The search is the greedy one, on these rows.",
        section="decomposition",
        size=(9.6, 3.2),
        draw=draw,
        head=("x1", "x2", "class", "cluster", *(name.replace(" ", "_") for name in panels)),
        data=[
            (float(a), float(b), int(label), int(cluster), *(int(own[i]) for own in found))
            for found in [[model.predict(case.X) for model in panels.values()]]
            for i, ((a, b), label, cluster) in enumerate(
                zip(case.X, case.y, case.clusters, strict=True)
            )
        ],
    )


def _fit(
    case: MergingCase, clusters: npt.NDArray[np.int64], search: Search
) -> ClassDecompositionClassifier:
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), search=search)
    return model.fit(case.X, case.y, validation=(case.X, case.y), clusters=clusters)


def _regions(axis: Axes, model: ClassDecompositionClassifier) -> None:
    ticks = np.linspace(-_EDGE, _EDGE, 281)
    across, down = np.meshgrid(ticks, ticks)
    found = model.predict(np.column_stack([across.ravel(), down.ravel()]))
    axis.contourf(
        across,
        down,
        found.reshape(across.shape),
        levels=[-0.5, 0.5, 1.5],
        colors=PALETTE[:2],
        alpha=0.18,
    )


def _rows(axis: Axes, case: MergingCase) -> None:
    for label in (0, 1):
        for cluster, marker in enumerate(_MARKERS):
            own = (case.y == label) & (case.clusters == cluster)
            across, down = case.X[own].T
            axis.scatter(across, down, s=9, marker=marker, color=PALETTE[label], linewidth=0)
