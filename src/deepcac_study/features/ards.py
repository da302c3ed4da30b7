"""ARDS after the first 24 hours of an ICU stay (DeepCAC, section 8, appendix 15), from MIMIC-III.

The papers give the task, the cohort rule and the five aggregates; the 97 variables, the age limit
and the choice of one stay per patient are ours (docs/data.md lists each choice).
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import read_table
from deepcac.types import Array
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.cohort import Flow, steps
from deepcac_study.features.columns.hourly import AGGREGATES
from deepcac_study.sources.mimic3.admissions import ADULT, DAY_HOURS
from deepcac_study.sources.mimic3.items import variable_names

# MICU is the reference.
CARE_UNITS = ("CCU", "CSRU", "SICU", "TSICU")
DEMOGRAPHICS = ("Age", "Male", *CARE_UNITS, "Elective")


def cohort(tidy: str | os.PathLike[str]) -> tuple[pd.DataFrame, Flow]:
    """Select the stays of a tidy folder, ordered by stay_id, with ``label``; and the cohort flow.

    A stay is positive if the charted Berlin criteria are met after its first 24 hours, or if its
    hospital admission has an ARDS code. Codes are given at discharge and have no time; a coded stay
    whose charted onset lies in the first 24 hours is excluded like any other early onset. If no
    stay is left, it is a `DataError`.
    """
    stays = read_table(Path(tidy) / "stays.parquet").to_pandas()
    measured = read_table(Path(tidy) / "first_day.parquet", ["stay_id"])["stay_id"].to_numpy()
    onset = stays["onset_minute"].fillna(np.inf).to_numpy()
    rules = {
        "ICU stays": np.ones(len(stays), dtype=bool),
        "first ICU stay of the patient": stays["first_stay"].to_numpy(),
        f"age {ADULT} or more": stays["age"].to_numpy() >= ADULT,
        f"stay of {DAY_HOURS} hours or more": stays["hours"].to_numpy() >= DAY_HOURS,
        f"a measurement in the first {DAY_HOURS} hours": stays["stay_id"].isin(measured).to_numpy(),
        f"no charted ARDS in the first {DAY_HOURS} hours": onset > 60 * DAY_HOURS,
    }
    left = np.logical_and.accumulate(list(rules.values()))
    flow = steps({rule: int(rows.sum()) for rule, rows in zip(rules, left, strict=True)})
    chosen = left[-1]
    if not chosen.any():
        raise DataError(f"{tidy}: no stay is left after the exclusions of the ARDS cohort")
    stays["label"] = (np.isfinite(onset) | stays["ards_code"]).astype(np.int64)
    return stays[chosen].sort_values("stay_id").reset_index(drop=True), flow


def positives(stays: pd.DataFrame) -> dict[str, int]:
    """Count the positive stays of `cohort` by criterion: charted, or by a code only."""
    charted = stays["onset_minute"].notna()
    return {"charted": int(charted.sum()), "code only": int((stays["ards_code"] & ~charted).sum())}


def ards(
    tidy: str | os.PathLike[str], protocol: Protocol = SOUND
) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Build the static features: five aggregates of 97 variables, and demographics.

    The matrix is (n, 97 x 5 + 7), NaN where a variable was not measured; the second value has the
    ``flow`` of the cohort, and its ``positives`` by criterion. With S1 the aggregates are over the
    whole stay, onset included, instead of the first 24 hours. With S2 the median is that of the
    series filled backwards inside the first 24 hours, then forwards.
    """
    stays, flow = cohort(tidy)
    source = "whole_stay" if "S1" in protocol else "first_day"
    table = read_table(Path(tidy) / f"{source}.parquet").to_pandas()
    row, column, inside = _places(table, stays)
    names = variable_names()
    values = np.full((len(stays), len(names), len(AGGREGATES)), np.nan)
    for position, aggregate in enumerate(AGGREGATES):
        field = "filled_median" if aggregate == "median" and "S2" in protocol else aggregate
        values[row, column, position] = table[field].to_numpy()[inside]
    columns = tuple(f"{name}_{aggregate}" for name in names for aggregate in AGGREGATES)
    X = np.hstack([_demographics(stays), values.reshape(len(stays), -1)])
    return _matrix(stays, X, (*DEMOGRAPHICS, *columns)), _described(stays, flow)


def ards_ts(tidy: str | os.PathLike[str]) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Build the hourly features of the first 24 hours, (n, 24, 97 + 7) as ``variable@hour``.

    The value of an hour is the median of what was measured in it; NaN marks an hour without a
    measurement (the mask). Demographics are repeated in every hour.
    """
    stays, flow = cohort(tidy)
    table = read_table(Path(tidy) / "hourly.parquet").to_pandas()
    row, column, inside = _places(table, stays)
    names = variable_names()
    values = np.full((len(stays), len(names), DAY_HOURS), np.nan)
    values[row, column, table["hour"].to_numpy()[inside]] = table["value"].to_numpy()[inside]
    constant = np.repeat(_demographics(stays), DAY_HOURS, axis=1)
    columns = tuple(
        f"{name}@{hour:02d}" for name in (*DEMOGRAPHICS, *names) for hour in range(DAY_HOURS)
    )
    X = np.hstack([constant, values.reshape(len(stays), -1)])
    return _matrix(stays, X, columns), _described(stays, flow)


def _described(stays: pd.DataFrame, flow: Flow) -> dict[str, Any]:
    """Return the facts for the cohort's record."""
    return {"flow": flow, "positives": positives(stays)}


def _places(
    table: pd.DataFrame, stays: pd.DataFrame
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Return matrix row and column of the lines of a long table in the cohort, and their mask."""
    row = pd.Index(stays["stay_id"]).get_indexer(pd.Index(table["stay_id"]))
    column = pd.Index(variable_names()).get_indexer(pd.Index(table["variable"]))
    inside = row >= 0
    return row[inside], column[inside], inside


def _demographics(stays: pd.DataFrame) -> Array:
    """Return the matrix of `DEMOGRAPHICS`, shape (n, 7)."""
    units = [(stays["care_unit"] == unit).to_numpy(float) for unit in CARE_UNITS]
    plain = [stays[name].to_numpy(float) for name in ("age", "male")]
    return np.column_stack([*plain, *units, stays["elective"].to_numpy(float)])


def _matrix(stays: pd.DataFrame, X: Array, names: tuple[str, ...]) -> FeatureMatrix:
    return FeatureMatrix(
        row_id=stays["stay_id"].to_numpy(np.int64),
        label=stays["label"].to_numpy(np.int64),
        X=X,
        names=names,
    )
