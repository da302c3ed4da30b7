"""Records of case studies, with clusters matched between the splits."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

from deepcac.files.storage import read_json, read_table
from deepcac.types import Array
from deepcac_study.records.stored import Stored, check_place

TOP = 10  # features that a list of the most important ones holds

# Shares of all rows by cluster and class, shape (k, n_classes), for a data set and k.
References = Mapping[tuple[str, int], Array]


@dataclass(frozen=True)
class CaseStudy(Stored):
    """One JSON of `deepcac_study.experiments.case_study`, with its tables."""

    sizes: npt.NDArray[np.int64]  # shape (splits, k, n_classes); training rows
    table: pd.DataFrame  # a row for each split, feature and cluster
    # Latents of the first split's test rows; None where the study was made without.
    plane: pd.DataFrame | None = None

    @property
    def name(self) -> str:
        """Data set and number of clusters, as in file names."""
        return f"{self.dataset}_k{self.k}"

    @property
    def k(self) -> int:
        """Number of clusters."""
        return int(self.record["k"])

    @property
    def subject(self) -> tuple[str, int]:
        """Data set and number of clusters."""
        return self.dataset, self.k

    @cached_property
    def importance(self) -> pd.DataFrame:
        """Mean importance over the splits, features by clusters."""
        return self._by_cluster("importance")

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean of measured values over the splits, features by clusters."""
        return self._by_cluster("mean")

    def _by_cluster(self, column: str) -> pd.DataFrame:
        """Return the mean over splits, a row per feature and a column per cluster."""
        wide = self.table.pivot_table(
            index="feature",
            columns="cluster",
            values=column,
            aggfunc="mean",
            sort=False,
            dropna=False,
        )
        return wide.sort_index(axis=1)

    @cached_property
    def separating(self) -> pd.DataFrame:
        """Mean sd, mean effect and largest p over the splits, the strongest feature first."""
        groups = self.table.groupby("feature", sort=False)
        means = groups.agg(sd=("sd", "mean"), effect=("effect", "mean"), p=("p", "max"))
        return means.sort_values("effect", ascending=False, kind="stable")

    def important(self, cluster: int) -> list[str]:
        """Return the ten features that matter most to a cluster's risk model."""
        ranked = self.importance[cluster].sort_values(ascending=False, kind="stable")
        return [str(name) for name in ranked[ranked > 0].index[:TOP]]


def match(shares: Array, reference: Array) -> npt.NDArray[np.intp]:
    """Return for each of our clusters the number of the reference cluster that it matches.

    Clusters have no order. Of all pairings this is the one with the least total absolute
    difference between the two tables of shares (rows: clusters, columns: classes).
    """
    cost = np.abs(shares[:, None] - reference[None]).sum(axis=2)
    return linear_sum_assignment(cost)[1]


def load_case_studies(
    paths: Iterable[str | os.PathLike[str]],
    root: str | os.PathLike[str],
    references: References | None = None,
) -> list[CaseStudy]:
    """Read case studies, whose paths are displayed relative to `root`, and match their clusters.

    The clusters of every split are matched (`match`) to those that a paper printed for the data set
    and k (`references`), else to those of the first split.
    """
    files = [Path(path) for path in sorted({str(path) for path in paths})]
    studies = [_read(file, Path(root), references or {}) for file in files]
    return sorted(studies, key=lambda study: (study.protocol != "as_published", study.name))


def _read(file: Path, root: Path, references: References) -> CaseStudy:
    """Read a case study, clusters renumbered to match the reference's class shares."""
    record = read_json(file)
    check_place(file, record, "case_study/{folder}{dataset}_k{k}.json")
    table = read_table(file.with_suffix(".features.parquet")).to_pandas()
    sizes = np.array([split["sizes_train"] for split in record["splits"]])
    shares = sizes / sizes.sum(axis=(1, 2), keepdims=True)
    reference = references.get((record["dataset"], record["k"]), shares[0])
    ordered, tables = np.empty_like(sizes), []
    for split, share, entry in zip(range(len(sizes)), shares, record["splits"], strict=True):
        number = match(share, reference)
        ordered[split][number] = sizes[split]
        part = table[table["seed"] == entry["seed"]]
        tables.append(part.assign(cluster=number[part["cluster"].to_numpy() - 1] + 1))
    path = Path(os.path.relpath(file, root)).as_posix()
    return CaseStudy(path, record, ordered, pd.concat(tables, ignore_index=True), _plane(file))


def _plane(file: Path) -> pd.DataFrame | None:
    plane = file.with_suffix(".plane.parquet")
    return read_table(plane).to_pandas() if plane.exists() else None
