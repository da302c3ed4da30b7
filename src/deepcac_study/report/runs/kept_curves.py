"""Curves and bootstrap intervals that are kept with the project, where score files are not here."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from deepcac_study.records.runs import Run
from deepcac_study.report.runs.comparisons import Bootstraps, Difference
from deepcac_study.report.runs.curves import Curves, from_scores

CURVES, CALIBRATION, BOOTSTRAPS = "curves", "calibration", "bootstraps"
_RUN = ["dataset", "method", "k"]
_COLUMNS = {
    CURVES: [*_RUN, "curve", "x", "y"],
    CALIBRATION: [*_RUN, "predicted", "observed", "low", "high", "rows"],
}


def curve_table(figures: Path, name: str, datasets: Iterable[str]) -> pd.DataFrame:
    """Return the data behind one kind of figure in a folder, of the data sets that may be kept.

    Curves of several splits become their mean.
    """
    paths = {dataset: figures / f"{name}_{dataset}.csv" for dataset in sorted(datasets)}
    parts = [
        pd.read_csv(path).assign(dataset=dataset)
        for dataset, path in paths.items()
        if path.exists()
    ]
    if not parts:
        return pd.DataFrame(columns=_COLUMNS[name])
    table = pd.concat(parts, ignore_index=True)
    if name == CURVES:
        each = table.groupby([*_RUN, "curve", "x"], sort=False)
        table = each["y"].mean().round(4).reset_index()
    return table[_COLUMNS[name]]


def bootstrap_table(effects: Iterable[Difference]) -> pd.DataFrame:
    """Return the bootstrap interval of each comparison that has one, by the paths of its runs."""
    rows = [(e.first.path, e.second.path, e.metric, *e.bootstrap) for e in effects if e.bootstrap]
    return pd.DataFrame(rows, columns=["first", "second", "metric", "low", "high"]).round(6)


def kept_curves(folder: str | os.PathLike[str]) -> Callable[[Run], Curves | None]:
    """Return what finds the curves of a sound run: from its scores, or the kept ones."""
    tables = {
        name: dict(list(pd.read_csv(Path(folder) / f"{name}.csv").groupby(_RUN)))
        for name in (CURVES, CALIBRATION)
    }

    def find(run: Run) -> Curves | None:
        if own := from_scores(run):
            return own
        place = (run.dataset, run.method, run.k)
        drawn, binned = (tables[name].get(place) for name in (CURVES, CALIBRATION))
        if drawn is None:
            return None
        lines = [
            (str(kind), 0, own["y"].to_numpy()) for kind, own in drawn.groupby("curve", sort=False)
        ]
        columns = _COLUMNS[CALIBRATION][len(_RUN) :]
        reliability = None if binned is None else tuple(binned[one].to_numpy() for one in columns)
        return Curves(lines, reliability)

    return find


class KeptBootstraps(Bootstraps):
    """Intervals of paired differences: from scores, or from ``bootstraps.csv`` of a folder."""

    def __init__(self, folder: str | os.PathLike[str], resamples: int = 0) -> None:
        super().__init__(resamples)
        table = pd.read_csv(Path(folder) / f"{BOOTSTRAPS}.csv")
        keys = zip(table["first"], table["second"], table["metric"], strict=True)
        self._kept = dict(zip(keys, zip(table["low"], table["high"], strict=True), strict=True))

    def difference(self, first: Run, second: Run, metric: str) -> tuple[float, float] | None:
        """Return the interval of a paired difference, or None without one."""
        own = super().difference(first, second, metric)
        return own or self._kept.get((first.path, second.path, metric))
