"""Records of supervised k-means: losses, training times, checks of its theory."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac_study.records.stored import Stored, load_stored


class ClusteringRun(Stored):
    """One method on one data set (`deepcac_study.experiments.relatives.example_clusterings`)."""

    place, entry = "{dataset}/{method}.json", "repeats"

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
        """Note such as "3 of 40 fits stopped early", empty if none did."""
        counts = [
            sum(repeat[key] for repeat in self.record["repeats"])
            for key in ("n_unfinished", "n_fits")
        ]
        return f"{counts[0]} of {counts[1]} fits stopped early" if counts[0] else ""


class Measured(Stored):
    """One record of measurements: ``times.json`` or ``checks.json``."""

    def rows(self, table: str, **wanted: object) -> list[dict[str, Any]]:
        """Return the rows of a table whose entries equal the values in `wanted`."""
        rows: Sequence[dict[str, Any]] = self.record[table]
        return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


@dataclass(frozen=True)
class Clusterings:
    """All records of supervised k-means; any part may be missing."""

    runs: tuple[ClusteringRun, ...] = ()  # by data set and method
    # Of `learning_times` and `oracle_checks`.
    times: Measured | None = None
    checks: Measured | None = None

    def find(self, dataset: str, method: str) -> ClusteringRun | None:
        """Return one run, or None where it was not made."""
        matching = (run for run in self.runs if (run.dataset, run.method) == (dataset, method))
        return next(matching, None)

    def datasets(self) -> list[str]:
        """Return the data sets with runs, each once."""
        return list(dict.fromkeys(run.dataset for run in self.runs))


def load_clusterings(
    paths: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]
) -> Clusterings:
    """Read ``{dataset}/{method}.json``, ``times.json`` and ``checks.json``, any of them."""
    files = list(paths)
    runs = load_stored(ClusteringRun, files, root)
    single = {PurePath(record.path).stem: record for record in load_stored(Measured, files, root)}
    return Clusterings(tuple(runs), single.get("times"), single.get("checks"))
