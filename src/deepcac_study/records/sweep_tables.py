"""The finished sweeps: alpha by pass, the synthetic grid, the loss weights, the separation term."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from deepcac.files.storage import read_table

# What separates the classes of a cluster in `deepcac_study.experiments.networks.class_separation`.
TERMS = ("none", "am_softmax", "centroid_distance", "permuted_distance")
NONE, AM_SOFTMAX, CENTROIDS, PERMUTED = TERMS  # the last is the third on permuted labels

Tables = dict[tuple[str, int], pd.DataFrame]  # by data set and k

_NAME = re.compile(r"([a-z]+)_(\w+)_k(\d+)")


@dataclass(frozen=True)
class Sweeps:
    """What the experiments of `deepcac_study.experiments` found by sweeps.

    Attributes
    ----------
    tables : dict of str to dict of (dataset, k) to DataFrame
        By kind: ``alpha``, CAC by pass and alpha; ``weights``, DeepCAC by loss weight; and what
        the questions of ``catalogue/questions.yaml`` measured.
    grid : DataFrame or None
        The synthetic grid.
    """

    tables: dict[str, Tables] = field(default_factory=dict)
    grid: pd.DataFrame | None = None

    def of(self, kind: str) -> Tables:
        """Return the tables of a kind; none where nothing was measured."""
        return self.tables.get(kind, {})


def load_sweeps(paths: Iterable[str | os.PathLike[str]]) -> Sweeps:
    """Read sweep tables by their names: ``alpha_cic_k2``, ``weights_cic_k3``, ``grid``.

    Those that ship are CSV.
    """
    tables: dict[str, Tables] = {}
    grid = None
    for path in sorted(Path(path) for path in paths):
        table = read_measured(path)
        if name := _NAME.fullmatch(path.stem):
            tables.setdefault(name[1], {})[name[2], int(name[3])] = table
        else:
            grid = table
    return Sweeps(tables, grid)


def measured_tables(folder: Path) -> list[Path]:
    """Return the tables of a folder, as runs write them or as CSV that ships."""
    return sorted(path for path in folder.glob("*") if path.suffix in (".parquet", ".csv"))


def read_measured(path: Path) -> pd.DataFrame:
    """Read a table of a run, or its CSV that ships: an empty cell of text is a text, not a gap."""
    if path.suffix != ".csv":
        return read_table(path).to_pandas()
    table = pd.read_csv(path, engine="python")  # the C parser may miss the last bit of a number
    texts = table.select_dtypes(["object", "string"]).columns
    return table.fillna(dict.fromkeys(texts, ""))


def by_split(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return a sweep split by split; one without a column of seeds is of one split."""
    if "seed" not in table.columns:
        return [table]
    return [part for _, part in table.groupby("seed", sort=False)]


def final_pass(table: pd.DataFrame) -> pd.DataFrame:
    """Return the last pass of every alpha of one split, one row each."""
    return table.groupby("alpha", as_index=False).last()
