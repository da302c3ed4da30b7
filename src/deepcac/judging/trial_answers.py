"""What the trials of a contender answer; nobody else knows the columns of its table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.judging.resamples import Resample
from deepcac.types import Array, Ids

VALIDATION, TEST = 1, 2
ROWS = ["seed", "part", "row_id", "label"]  # columns that tell whose the answers are


@dataclass(frozen=True)
class TrialAnswers:
    """Probabilities that trials give to the validation and test rows of resamples.

    `table` is what is stored: ``seed``, ``part`` (1 validation, 2 test), ``row_id``, ``label``, and
    ``t{trial}_{class}`` as float32, without class 0.
    """

    table: pa.Table

    @classmethod
    def of(cls, sample: Resample, answers: Sequence[npt.NDArray[np.float32]]) -> "TrialAnswers":
        """Return the answers (n, n_classes) of each trial to the rows of one resample."""
        parts = (sample.validation, sample.test)
        columns = {
            "seed": np.full(sum(map(len, parts)), sample.seed, dtype=np.int16),
            "part": np.repeat(np.array([VALIDATION, TEST], dtype=np.int8), [len(p) for p in parts]),
            "row_id": np.concatenate([p.row_id for p in parts]),
            "label": np.concatenate([p.y for p in parts]).astype(np.int8),
        }
        columns |= {
            _column(trial, c): probability[:, c]
            for trial, probability in enumerate(answers)
            for c in range(1, sample.n_classes)
        }
        return cls(pa.table(columns))

    @property
    def seeds(self) -> list[int]:
        """Seeds of the resamples, in order."""
        return sorted(set(self.table["seed"].to_pylist()))

    @property
    def label(self) -> Ids:
        """Classes of the rows."""
        return np.asarray(self.table["label"].to_numpy(), dtype=np.int64)

    @property
    def row_id(self) -> Ids:
        """Ids of the rows."""
        return np.asarray(self.table["row_id"].to_numpy())

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return sum(name.startswith(_column(0, "")) for name in self.table.column_names) + 1

    def part(self, part: int, seed: int | None = None) -> "TrialAnswers":
        """Return the rows of `VALIDATION` or `TEST`, of one resample or of all."""
        mask = self.table["part"].to_numpy() == part
        if seed is not None:
            mask &= self.table["seed"].to_numpy() == seed
        return TrialAnswers(self.table.filter(pa.array(mask)))

    def risk(self, trial: int) -> Array:
        """Return the probabilities of class 1 by one trial, shape (n,)."""
        return np.asarray(self.table[_column(trial, 1)].to_numpy(), dtype=np.float64)

    def probability(self, trial: int) -> Array:
        """Return the probabilities of all classes by one trial, shape (n, n_classes)."""
        names = [_column(trial, c) for c in range(1, self.n_classes)]
        others = np.column_stack([self.table[name].to_numpy() for name in names])
        others = others.astype(np.float64)
        return np.column_stack([1 - others.sum(axis=1), others])


def _column(trial: int, c: int | str) -> str:
    return f"t{trial}_{c}"
