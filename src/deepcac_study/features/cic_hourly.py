"""Data set cic_ts: death in hospital, from hour to hour of the first 48."""

from typing import Any

import numpy as np
import pyarrow as pa

from deepcac.feature_matrix import FeatureMatrix
from deepcac.types import Array
from deepcac_study.features.cic import cohort_details
from deepcac_study.features.johnson import FIVE, TWO, UNITS, Series, cleaned_series

HOURS = 48
MEASURED = (*FIVE, *TWO, "MechVent")
SUMMED = "Urine"  # mL of an hour; everything else is a state, and has a mean


def cic_ts(events: pa.Table, outcomes: pa.Table) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Build the hourly features of PhysioNet 2012: (n, 48, 44), as ``variable@hour``.

    Values are cleaned as for `cic`, but not imputed: NaN is an hour without a measurement.
    Descriptors at admission are repeated in every hour; the group is the set. The second value has
    the `cohort_details`.
    """
    outcomes = outcomes.sort_by("record_id")
    record_id = outcomes["record_id"].to_numpy().astype(np.int64)
    group = np.array(outcomes["set"].to_pylist())
    admission, by_variable, repairs = cleaned_series(events, record_id)
    kind = admission.pop("ICUType")
    static = {f"Admission{name}": values for name, values in admission.items()}
    static |= {unit: (kind == code).astype(float) for unit, code in UNITS.items()}
    tables = {name: by_hour(by_variable[name], len(record_id)) for name in MEASURED}
    tables[SUMMED] = by_hour(by_variable[SUMMED], len(record_id), total=True)
    tables |= {name: np.repeat(values[:, None], HOURS, axis=1) for name, values in static.items()}
    features = FeatureMatrix(
        row_id=record_id,
        label=outcomes["In-hospital_death"].to_numpy().astype(np.int64),
        X=np.hstack(list(tables.values())),
        names=tuple(f"{name}@{hour:02d}" for name in tables for hour in range(HOURS)),
        group=group,
    )
    return features, cohort_details(events, group, features, repairs)


def by_hour(of: Series, n: int, *, total: bool = False) -> Array:
    """Return the mean, or the sum, of each hour's values of n records, shape (n, 48).

    NaN is an hour without a value; what was measured at 48:00 belongs to the last hour.
    """
    seen = ~np.isnan(of.value)
    hour = np.minimum(of.minute[seen] // 60, HOURS - 1)
    place = of.row[seen] * HOURS + hour
    count = np.bincount(place, minlength=n * HOURS)
    sums = np.bincount(place, weights=of.value[seen], minlength=n * HOURS)
    with np.errstate(invalid="ignore"):
        values = np.where(count > 0, sums, np.nan) / (1 if total else np.maximum(count, 1))
    return np.asarray(values.reshape(n, HOURS))
