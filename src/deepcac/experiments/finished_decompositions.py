"""Finished records of class decomposition, and its gains by data set."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.scoring.statistics import Comparison, corrected_t_test
from deepcac.storage import read_json

Array = npt.NDArray[np.float64]

BASES = {"nb": "naive Bayes", "svm": "linear machines"}


@dataclass(frozen=True)
class DecompositionRecord:
    """One JSON of `deepcac.experiments.decomposition_runs`.

    Attributes
    ----------
    path : str
        Its place, relative to the folder that holds ``results/``.
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
    def protocol(self) -> str:
        """``sound`` or ``as_published``."""
        return str(self.record["protocol"])

    @property
    def synthetic(self) -> bool:
        """Whether the rows were generated."""
        return bool(self.record["synthetic"])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.record["n_classes"])

    @property
    def n_clusters(self) -> float:
        """Mean number of clusters that EM finds in a class."""
        return float(np.mean([np.mean(row["n_clusters"]) for row in self.rows("nb", "alone")]))

    def rows(self, base: str, arm: str) -> list[dict[str, Any]]:
        """Return the runs of one arm, in order."""
        found = self.record["runs"]
        return [row for row in found if (row["base"], row["arm"]) == (base, arm)]

    def values(self, base: str, arm: str, name: str = "accuracy") -> Array:
        """Return a quantity of one arm (runs,); accuracies in per cent."""
        values = np.array([row[name] for row in self.rows(base, arm)], dtype=np.float64)
        return 100 * values if name.endswith("accuracy") else values

    def gains(self, base: str, over: str = "alone", name: str = "accuracy") -> Array:
        """Return accuracy of the greedy search less that of another arm (runs,), in points."""
        return self.values(base, "greedy", name) - self.values(base, over, name)

    def plain_test(self, base: str) -> Comparison:
        """Return Student's t-test on the gains, as if the runs shared no rows."""
        return corrected_t_test(self.gains(base), n_train=1.0, n_test=0.0)

    def corrected_test(self, base: str) -> Comparison:
        """Return the t-test on the gains that takes account of shared training rows."""
        shares = self.record["shares"]
        return corrected_t_test(self.gains(base), n_train=shares["train"], n_test=shares["test"])

    def seconds(self, stage: str) -> float:
        """Return the processor time of one stage, over all runs."""
        return float(self.record["machine"]["seconds"][stage])


def load_decompositions(
    paths: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]
) -> list[DecompositionRecord]:
    """Read the records: sound before as published, then by data set.

    Parameters
    ----------
    paths : iterable of path-like
        Files of `deepcac.experiments.decomposition_runs`.
    root : path-like
        Folder that shown paths are relative to.

    Raises
    ------
    DataError
        A file is no such record, or was edited.
    """
    found = [_read(Path(path), root) for path in paths]
    return sorted(found, key=lambda one: (one.protocol != "sound", one.protocol, one.dataset))


def _read(file: Path, root: str | os.PathLike[str]) -> DecompositionRecord:
    record = read_json(file)
    return DecompositionRecord(Path(os.path.relpath(file, root)).as_posix(), record)
