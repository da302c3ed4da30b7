"""What class decomposition gains on each data set, beside print: a table and a figure."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.tables import Table, text_row
from deepcac_study.experiments.finished_decompositions import (
    BASES,
    EVERY_BASE,
    PRINTED_BASE,
    DecompositionRecord,
)
from deepcac_study.papers.class_decomposition.gain_rules import TABLE_1, p_values, printed_gains
from deepcac_study.papers.names import printed_datasets
from deepcac_study.report.boundary_figures import boundary_figures
from deepcac_study.report.merging_figure import merging_figure

Records = Sequence[DecompositionRecord]

_NOTE = (
    "Test accuracy after the greedy search less that of the base classifier alone, in points, "
    "mean of the runs. As published: parts drawn plainly, Student's t-test, as in the paper "
    "(asterisk at p = 0.01). Sound: parts drawn within each class, the t-test corrected for shared "
    "rows, p adjusted over the data sets (Holm). All clusters: the gain without any merge. "
    "Restored: runs in which the original classes came back, as nothing was better on the "
    "validation rows. Seconds: processor time of clustering and search, a run."
)
_HEAD = (
    "data set",
    "classifier",
    "printed gain",
    "as published",
    "p",
    "sound",
    "p (Holm)",
    "all clusters",
    "clusters a class",
    "restored",
    "seconds EM",
    "seconds search",
)


def gains_tables(records: Records, name: str = "decomposition_gains") -> list[Table]:
    """Return the table of gains, a row for each data set and base; [] without a record."""
    if not records:
        return []
    by_protocol = _by_protocol(records)
    datasets = list(dict.fromkeys(one.dataset for one in records))
    rows = [
        text_row(*_cells(dataset, base, by_protocol))
        for dataset in datasets
        for base in _bases(records, dataset)
    ]
    return [Table(name, "Gains by class decomposition", _NOTE, _HEAD, rows, n_labels=2)]


def _bases(records: Records, dataset: str) -> list[str]:
    """Return the base classifiers that any record of a data set has."""
    there = {base for one in records if one.dataset == dataset for base in one.bases}
    return [base for base in EVERY_BASE if base in there]


def _by_protocol(records: Records) -> dict[str, list[DecompositionRecord]]:
    return {
        protocol: [one for one in records if one.protocol == protocol]
        for protocol in ("sound", "as_published")
    }


def _printed(base: str) -> dict[str, float]:
    """Return the printed gains by data set id; the paper's linear machines are of either kind."""
    column = printed_gains(PRINTED_BASE.get(base, base))
    return dict(zip(printed_datasets(TABLE_1), column, strict=True))


def _cells(dataset: str, base: str, by_protocol: dict[str, list[DecompositionRecord]]) -> list[str]:
    """Return one row of the table; a dash where a protocol has no record."""
    printed = _printed(base).get(dataset)
    cells = [dataset, EVERY_BASE[base], "–" if printed is None else f"{printed:+.2f}"]
    for protocol in ("as_published", "sound"):
        having = [one for one in by_protocol[protocol] if base in one.bases]
        own = {one.dataset: one for one in having}
        if dataset in own:
            p = p_values(having, base)[dataset]
            cells += [f"{own[dataset].gains(base).mean():+.2f}", _p(p)]
        else:
            cells += ["–", "–"]
    found = next(
        one
        for part in by_protocol.values()
        for one in part
        if one.dataset == dataset and base in one.bases
    )
    searched = found.rows(base, "greedy")
    every = found.values(base, "separate") - found.values(base, "alone")
    return [
        *cells,
        f"{every.mean():+.2f}",
        f"{found.n_clusters:.2f}",
        f"{sum(row['reverted'] for row in searched)} of {len(searched)}",
        f"{found.seconds('clustering') / len(searched):.2g}",
        f"{found.seconds(f'{base}_greedy') / len(searched):.2g}",
    ]


def _p(value: float) -> str:
    return f"{value:.3f}{' *' if value < 0.01 else ''}" if np.isfinite(value) else "–"


def decomposition_figures(records: Records) -> list[Figure]:
    """Return the paper's Figures 1 to 4, and the gains of the sound records if any."""
    sound = [one for one in records if one.protocol == "sound"]
    return [*boundary_figures(), merging_figure(), *([_gains_figure(sound)] if sound else [])]


def _gains_figure(sound: Records) -> Figure:
    data = []
    for base, name in BASES.items():
        printed = _printed(base)
        for one in sound:
            test = one.corrected_test(base)
            known = printed.get(one.dataset, float("nan"))
            data.append((one.dataset, name, known, test.mean, test.low, test.high))
    return Figure(
        id="decomposition_gains",
        title="What class decomposition gains",
        caption="Points of accuracy over the base classifier alone: printed (crosses) and ours, "
        "sound, with the 95 % interval of the corrected t-test over the runs.",
        section="decomposition",
        size=(8.6, 1.4 + 0.22 * len(sound)),
        draw=lambda canvas: _draw_gains(canvas, data),
        head=("dataset", "classifier", "printed", "gain", "low", "high"),
        data=data,
    )


def _draw_gains(
    canvas: Canvas, data: Sequence[tuple[str, str, float, float, float, float]]
) -> None:
    axes = canvas.subplots(1, 2, sharey=True)
    for axis, name in zip(axes, BASES.values(), strict=True):
        rows = [row for row in data if row[1] == name]
        places = np.arange(len(rows))
        printed, means, low, high = (np.array([row[i] for row in rows]) for i in (2, 3, 4, 5))
        half = np.nan_to_num([means - low, high - means])
        axis.axvline(0, color="#888888", linewidth=0.8)
        axis.errorbar(
            means, places, xerr=half, fmt="o", color=PALETTE[0], markersize=4, label="ours, sound"
        )
        axis.scatter(printed, places, marker="x", color=PALETTE[1], s=26, label="printed")
        axis.set(title=name, xlabel="gain (points)", ylim=(len(rows) - 0.5, -0.5))
    datasets = list(dict.fromkeys(row[0] for row in data))
    axes[0].set_yticks(range(len(datasets)), datasets)
    canvas.legend(*axes[1].get_legend_handles_labels(), loc="outside upper right", ncols=2)
