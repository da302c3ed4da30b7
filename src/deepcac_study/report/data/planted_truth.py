"""Comparison of planted and found subtypes of generated cohorts: ARI, and a map."""

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from deepcac.errors import DataError
from deepcac.feature_matrix import read_features
from deepcac.pages.drawing import draw_groups
from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table, text_row
from deepcac_study.catalogue.methods import WELL_KNOWN, label
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.papers.ledger import number
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure, declared_table

_MOST = 3  # runs on the map


@dataclass(frozen=True)
class Found:
    """Planted subtypes and the clusters of one run, for its test rows."""

    run: Run
    rows: npt.NDArray[np.int64]  # test rows of its first split
    # Subtype and cluster of each.
    planted: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]

    @property
    def agreement(self) -> float:
        """Adjusted Rand index: 1 for identical groups, 0 by chance."""
        return float(adjusted_rand_score(self.planted, self.clusters))


def read_truth(path: str | os.PathLike[str]) -> dict[int, str]:
    """Read the planted subtype of each record id."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return {int(row["record_id"]): row["subtype"] for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{path}: no planted subtypes ({error!r}); generate it again") from error


def planted_against_found(
    runs: Runs, registry_dir: Path, truth_paths: Iterable[str | os.PathLike[str]]
) -> list[Found]:
    """Return the comparison for every sound run with clusters on the cohorts of `truth_paths`."""
    registry = load_registry(registry_dir)
    comparisons = []
    for path in map(Path, truth_paths):
        truth = read_truth(path)
        for run in runs.where(protocol="sound", status="ok", synthetic=True):
            prefix = path.parent.name.removesuffix(registry.dataset(run.dataset).source)
            if (
                run.k > 1
                and prefix != path.parent.name
                and (comparison := _subtypes_of(run, truth))
            ):
                comparisons.append(comparison)
    return comparisons


def _subtypes_of(run: Run, truth: dict[int, str]) -> Found | None:
    """Return planted and found groups on the first split; None if any row lacks one."""
    table = run.scores(["row_id", "seed", "cluster"])
    if table is None:
        return None
    first = table["seed"].to_numpy() == run.splits[0]["seed"]
    rows = table["row_id"].to_numpy()[first]
    if not set(rows.tolist()) <= truth.keys():
        return None
    names = sorted(set(truth.values()))
    planted = np.array([names.index(truth[row]) for row in rows.tolist()])
    return Found(run, rows, planted, table["cluster"].to_numpy()[first])


def planted_table(comparisons: Sequence[Found]) -> list[Table]:
    """Return a table with a row for each run; [] without any."""
    rows = [
        text_row(
            comparison.run.dataset,
            label(comparison.run.method),
            len(np.unique(comparison.planted)),
            comparison.run.k,
            number(round(comparison.agreement, 3)),
        )
        for comparison in comparisons
    ]
    return [declared_table("planted_subtypes", rows)] if rows else []


def planted_figure(comparisons: Sequence[Found], features_dir: Path | None) -> Figure | None:
    """Return the map of the first cohort: planted subtypes, and clusters of up to three runs."""
    shown = [comparison for comparison in comparisons if comparison.run.method in WELL_KNOWN]
    shown = [comparison for comparison in shown if comparison.run.dataset == shown[0].run.dataset]
    shown.sort(key=lambda comparison: WELL_KNOWN.index(comparison.run.method))
    if not shown or features_dir is None:
        return None
    file = features_dir / f"{shown[0].run.dataset}.parquet"
    if not file.is_file():
        return None
    features = read_features(file)
    place = {row: index for index, row in enumerate(features.row_id.tolist())}
    X = features.X[[place[row] for row in shown[0].rows.tolist()]]
    return _map(shown[:_MOST], principal_plane(X))


def principal_plane(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the first two principal components of standardised rows, missing values at 0."""
    measured = X[:, ~np.isnan(X).all(axis=0)]
    Z = np.nan_to_num(StandardScaler().fit_transform(measured))
    return PCA(n_components=2, svd_solver="full").fit_transform(Z)


def _map(shown: Sequence[Found], places: npt.NDArray[np.float64]) -> Figure:
    first = shown[0]
    found = [(label(one.run.method), f"{one.agreement:.2f}") for one in shown]
    titles = ["planted", *(f"{name}, ARI {agreement}" for name, agreement in found)]
    groups = [first.planted, *(one.clusters for one in shown)]

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(groups), sharex=True, sharey=True)
        for axis, title, group in zip(axes, titles, groups, strict=True):
            draw_groups(axis, places, group)
            axis.set(title=title)
        axes[0].set(ylabel="second component")

    return declared_figure(
        "planted_subtypes",
        size=(2.7 * len(groups), 3.1),
        draw=draw,
        data=[
            (int(row), float(x), float(y), *(int(group[place]) for group in groups))
            for place, (row, (x, y)) in enumerate(zip(first.rows, places, strict=True))
        ],
        seen=f"{len(np.unique(first.planted))} planted groups of {len(places)} rows; "
        f"ARI of {', '.join(map(' '.join, found))}",
        dataset=first.run.dataset,
        columns=(comparison.run.method for comparison in shown),
    )
