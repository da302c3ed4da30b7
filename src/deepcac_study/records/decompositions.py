"""Finished records of class decomposition, and its gains by data set."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from deepcac.scoring.statistics import Comparison, corrected_t_test
from deepcac.types import Array
from deepcac_study.records.stored import Stored, load_stored

BASES = {"nb": "naive Bayes", "svm": "linear machines"}
PRINTED_BASE = {"svm_rest": "svm"}  # the paper does not state which of the two it used
EVERY_BASE = {**BASES, "svm_rest": "linear machines, one against rest"}


class DecompositionRecord(Stored):
    """One JSON of `deepcac_study.experiments.relatives.decomposition_runs`."""

    place, entry = "results/{folder}decomposition/{dataset}.json", "runs"

    @property
    def bases(self) -> dict[str, str]:
        """Base classifiers of the record, and their names."""
        there = {row["base"] for row in self.record["runs"]}
        return {base: name for base, name in EVERY_BASE.items() if base in there}

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
        runs = self.record["runs"]
        return [row for row in runs if (row["base"], row["arm"]) == (base, arm)]

    def values(self, base: str, arm: str, name: str = "accuracy") -> Array:
        """Return a quantity of one arm (runs,); accuracies in per cent."""
        values = np.array([row[name] for row in self.rows(base, arm)], dtype=np.float64)
        return 100 * values if name.endswith("accuracy") else values

    def gains(self, base: str, over: str = "alone", name: str = "accuracy") -> Array:
        """Return accuracy of the greedy search minus that of another arm (runs,), in points."""
        return self.values(base, "greedy", name) - self.values(base, over, name)

    def corrected_test(self, base: str) -> Comparison:
        """Return the t-test on the gains, corrected for shared training rows."""
        shares = self.record["shares"]
        return corrected_t_test(self.gains(base), n_train=shares["train"], n_test=shares["test"])

    def seconds(self, stage: str) -> float:
        """Return the processor time of one stage, over all runs."""
        return float(self.record["machine"]["seconds"][stage])


class ResampledRecord(Stored):
    """One JSON of `deepcac_study.experiments.relatives.decomposition_runs`."""

    place, entry = "{dataset}.json", "parts"

    def change(self, base: str, part: str) -> float:
        """Return a part of the error with the greedy search minus that without, in points.

        `part` is ``error``, ``bias`` or ``variance``.
        """
        searched, alone = (self.record["parts"][base][arm][part] for arm in ("greedy", "alone"))
        return 100.0 * float(searched - alone)


def load_decompositions(
    paths: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]
) -> list[DecompositionRecord]:
    """Read the records of runs among some files: sound before as published, then by data set."""
    records = load_stored(DecompositionRecord, paths, root)
    return sorted(
        records, key=lambda record: (record.protocol != "sound", record.protocol, record.dataset)
    )
