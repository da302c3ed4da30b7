"""Which method is ahead of which, on how many data sets: a matrix of wins by AUROC."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import Figure
from deepcac_study.catalogue.methods import WELL_KNOWN, parse_method
from deepcac_study.experiments.finished import Run, Runs

_FEWEST = 2  # data sets that a method needs
METRIC = "auroc"


def win_matrix(runs: Runs) -> Figure | None:
    """Return the matrix of the well known methods; None for fewer than two of them."""
    scores = _scores(runs)
    methods = [name for name in WELL_KNOWN if len(scores.get(name, {})) >= _FEWEST]
    if len(methods) < 2:
        return None
    labels = [parse_method(name).label for name in methods]
    data = [(a, b, *_wins(scores[a], scores[b])) for a in methods for b in methods if a != b]
    best = max(methods, key=lambda name: sum(row[2] for row in data if row[0] == name))
    return Figure(
        id="win_matrix",
        title="Which method is ahead of which",
        caption="On how many data sets the method of the row has the higher mean AUROC than that "
        "of the column, of those that both were run on (sound protocol, the smallest k above 1). "
        "Ahead is not shown to be better: the intervals are under Comparisons.",
        section="clustering",
        size=(1.9 + 0.75 * len(methods), 1.3 + 0.5 * len(methods)),
        draw=lambda canvas: _draw(canvas, methods, labels, data),
        head=("method", "against", "ahead", "data_sets"),
        data=data,
        seen=f"{len(methods)} methods; most often ahead: {parse_method(best).label}",
    )


def _scores(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the mean AUROC by method and data set, at the smallest k above 1."""
    chosen: dict[tuple[str, str], Run] = {}
    for run in runs.where(protocol="sound", status="ok"):
        present = chosen.get((run.method, run.dataset))
        if present is None or (present.k == 1 and run.k > 1):
            chosen[run.method, run.dataset] = run
    found: dict[str, dict[str, float]] = {}
    for (method, dataset), run in chosen.items():
        if score := run.score(run.reported(METRIC, "")):
            found.setdefault(method, {})[dataset] = score[0]
    return found


def _wins(one: dict[str, float], other: dict[str, float]) -> tuple[int, int]:
    shared = one.keys() & other.keys()
    return sum(one[name] > other[name] for name in shared), len(shared)


def _draw(
    canvas: Canvas,
    methods: Sequence[str],
    labels: Sequence[str],
    data: Sequence[tuple[str, str, int, int]],
) -> None:
    axis = canvas.subplots()
    shares = np.full((len(methods), len(methods)), np.nan)
    for one, other, wins, shared in data:
        row, column = methods.index(one), methods.index(other)
        shares[row, column] = wins / shared if shared else np.nan
        axis.text(column, row, f"{wins}/{shared}", ha="center", va="center", size=8)
    axis.imshow(shares, vmin=-0.3, vmax=1.3, cmap="PuOr", aspect="auto")
    axis.set_xticks(range(len(labels)), labels, rotation=40, ha="right")
    axis.set_yticks(range(len(labels)), labels)
    axis.grid(visible=False)
