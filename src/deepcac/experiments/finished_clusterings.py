"""The finished experiments of supervised k-means: losses, training times, checks of its theory."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.storage import read_json


@dataclass(frozen=True)
class ClusteringRun:
    """One method on one data set (`deepcac.experiments.example_clusterings`).

    Attributes
    ----------
    path : str
        Place of the record, relative to the folder that holds ``results/``.
    record : dict
        Its content.
    """

    path: str
    record: dict[str, Any]

    @property
    def dataset(self) -> str:
        """Id of the data set."""
        return str(self.record["dataset"])

    @property
    def method(self) -> str:
        """``none``, ``pair``, ``iterative`` or ``spectral``."""
        return str(self.record["method"])

    @property
    def names(self) -> list[str]:
        """Names of the clusterings."""
        return [str(fold["test"]) for fold in self.record["repeats"][0]["folds"]]

    @property
    def losses(self) -> npt.NDArray[np.float64]:
        """Losses of shape (seeds, clusterings)."""
        repeats = self.record["repeats"]
        return np.array([[fold["loss"] for fold in repeat["folds"]] for repeat in repeats])

    @property
    def unfinished(self) -> str:
        """How many of the trained models were stopped before their precision, in words."""
        counts = [
            sum(repeat[key] for repeat in self.record["repeats"])
            for key in ("n_unfinished", "n_fits")
        ]
        return f"{counts[0]} of {counts[1]} fits stopped early" if counts[0] else ""


@dataclass(frozen=True)
class Measured:
    """One record of measurements: ``times.json`` or ``checks.json``.

    Attributes
    ----------
    path : str
    record : dict
    """

    path: str
    record: dict[str, Any]

    def rows(self, table: str, **wanted: object) -> list[dict[str, Any]]:
        """Return the rows of a table whose entries have the values."""
        rows: Sequence[dict[str, Any]] = self.record[table]
        return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


@dataclass(frozen=True)
class Clusterings:
    """Everything that was measured of supervised k-means; any part may be missing.

    Attributes
    ----------
    runs : tuple of ClusteringRun
        By data set and method.
    times, checks : Measured or None
        Of `learning_times` and `oracle_checks`.
    """

    runs: tuple[ClusteringRun, ...] = ()
    times: Measured | None = None
    checks: Measured | None = None

    def find(self, dataset: str, method: str) -> ClusteringRun | None:
        """Return one run, or None where it was not made."""
        own = (run for run in self.runs if (run.dataset, run.method) == (dataset, method))
        return next(own, None)

    def datasets(self) -> list[str]:
        """Return the data sets with runs, each once."""
        return list(dict.fromkeys(run.dataset for run in self.runs))


def load_clusterings(
    paths: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]
) -> Clusterings:
    """Read ``{dataset}/{method}.json``, ``times.json`` and ``checks.json``, any of them.

    Parameters
    ----------
    paths : iterable of path-like
    root : path-like
        Folder that shown paths are relative to.
    """
    runs, single = [], {}
    for file in sorted({Path(path) for path in paths}):
        shown, record = Path(os.path.relpath(file, root)).as_posix(), read_json(file)
        if "repeats" in record:
            runs.append(ClusteringRun(shown, record))
        else:
            single[file.stem] = Measured(shown, record)
    return Clusterings(tuple(runs), single.get("times"), single.get("checks"))
