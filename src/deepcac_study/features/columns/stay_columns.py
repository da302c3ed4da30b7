"""Hourly ICU stays, loaded column by column and clipped to plausible ranges."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac.types import Array, Ints
from deepcac_study.features.columns.ranges import Range, count_outside, read_ranges

Rows = Ints


def plausible_ranges() -> dict[str, Range]:
    """Return the ranges of the PhysioNet 2019 variables (``physionet2019_ranges.csv``).

    Most are the valid ranges of MIMIC-Extract (Wang et al. 2020), which clips to them too.
    """
    return read_ranges("features/physionet2019_ranges.csv")


def implausible(tidy: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Count the measurements outside their plausible range, before any are clipped.

    The result is that of `deepcac_study.features.columns.ranges.count_outside`, for the cohort
    file.
    """
    ranges = plausible_ranges()
    columns = ((name, _values(tidy, name)) for name in ranges)
    return count_outside(columns, ranges)


def _values(tidy: str | os.PathLike[str], name: str) -> Array:
    return read_table(tidy, [name])[name].to_numpy().astype(np.float64)


@dataclass(frozen=True)
class Stays:
    """The rows of all n stays, concatenated; columns are read on demand.

    Ids of stays ascend; hospital systems are "A" or "B". `starts`, of shape (n + 1,), has the first
    row of each stay, and the number of rows. `first_label` is the hour at which ``SepsisLabel``
    becomes 1, -1 without sepsis. With `clipped`, `column` clips to the plausible ranges.
    """

    tidy: str | os.PathLike[str]
    patient_id: npt.NDArray[np.int64]
    hospital: npt.NDArray[np.str_]
    starts: Rows
    first_label: Rows
    clipped: bool

    @classmethod
    def read(cls, tidy: str | os.PathLike[str], *, clipped: bool = True) -> "Stays":
        """Read the keys and labels of a tidy table."""
        table = read_table(tidy, ["patient_id", "hour", "hospital", "SepsisLabel"])
        if table.num_rows == 0:
            raise DataError(f"{tidy}: no rows; extract the archives again")
        begins = np.flatnonzero(table["hour"].to_numpy() == 0)
        starts = np.append(begins, table.num_rows)
        label = table["SepsisLabel"].to_numpy()
        onsets = np.flatnonzero((label == 1) & (np.diff(label, prepend=0) != 0))
        onsets = np.union1d(onsets, begins[label[begins] == 1])
        stay = np.searchsorted(starts, onsets, side="right") - 1
        first_label = np.full(len(begins), -1)
        # A stay's label turns on once, at most (the extraction checks it).
        first_label[stay] = onsets - begins[stay]
        return cls(
            tidy=tidy,
            patient_id=table["patient_id"].to_numpy()[begins].astype(np.int64),
            hospital=table["hospital"].to_pandas().to_numpy(str)[begins],
            starts=starts,
            first_label=first_label,
            clipped=clipped,
        )

    @property
    def length(self) -> Rows:
        """Hours of each stay."""
        return np.diff(self.starts)

    def column(self, name: str) -> Array:
        """Return one column of all rows as float64, NaN where missing."""
        values = _values(self.tidy, name)
        if not self.clipped:
            return values
        plausible = plausible_ranges()[name]
        return np.clip(values, plausible.low, plausible.high)
