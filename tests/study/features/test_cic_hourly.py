"""Hourly features of PhysioNet 2012: every value by hand."""

import numpy as np
import pyarrow as pa
import pytest

from deepcac_study.features.cic_hourly import HOURS, MEASURED, by_hour, cic_ts
from deepcac_study.features.johnson import Series
from deepcac_study.sources.physionet2012 import OUTCOMES

EVENTS = [
    (1, 0, "Age", 54.0),
    (1, 0, "Gender", 1.0),
    (1, 0, "Height", -1.0),  # unknown
    (1, 0, "ICUType", 2.0),
    (1, 0, "Weight", 80.0),
    (1, 0, "HR", 88.0),
    (1, 59, "HR", 92.0),
    (1, 60, "HR", 0.0),  # no heart rate: missing
    (1, 61, "Urine", 30.0),
    (1, 119, "Urine", 45.0),
    (1, 2880, "Temp", 37.5),  # 48:00
    (1, 2879, "Weight", 82.0),
    (1, 30, None, 1.0),
    (2, 0, "Age", 70.0),
    (2, 0, "ICUType", 3.0),
    (2, 200, "MechVent", 1.0),
]


@pytest.fixture(scope="module")
def features():
    records, minutes, names, values = zip(*sorted(EVENTS, key=lambda e: e[:2]), strict=True)
    events = pa.table(
        {
            "record_id": pa.array(records, pa.int32()),
            "minute": pa.array(minutes, pa.int16()),
            "parameter": pa.array(names, pa.string()).dictionary_encode(),
            "value": pa.array(values, pa.float64()),
        }
    )
    outcomes = {"record_id": pa.array([2, 1], pa.int32()), "set": ["b", "a"]}
    outcomes |= {name: pa.array([0, 0], pa.int32()) for name in OUTCOMES}
    outcomes["In-hospital_death"] = pa.array([1, 0], pa.int32())
    return cic_ts(events, pa.table(outcomes))[0]


def values(features, row, name):
    """Return the hours of a variable that have a value, and these."""
    found = features.X[row, [features.names.index(f"{name}@{h:02d}") for h in range(HOURS)]]
    hours = np.flatnonzero(~np.isnan(found))
    return hours.tolist(), found[hours].tolist()


def test_the_shape_is_stays_by_hours_by_variables(features):
    assert features.sequences().shape == (2, HOURS, len(MEASURED) + 1 + 7)
    assert features.row_id.tolist() == [1, 2]
    assert features.label.tolist() == [0, 1]
    assert features.group.tolist() == ["a", "b"]


def test_an_hour_has_the_mean_of_its_values(features):
    assert values(features, 0, "HR") == ([0], [90.0])
    assert values(features, 0, "Weight") == ([47], [82.0])
    assert values(features, 1, "MechVent") == ([3], [1.0])


def test_urine_is_summed_and_the_last_minute_belongs_to_the_last_hour(features):
    assert values(features, 0, "Urine") == ([1], [75.0])
    assert values(features, 0, "Temp") == ([47], [37.5])


def test_what_is_known_at_admission_stands_in_every_hour(features):
    every = list(range(HOURS))
    assert values(features, 0, "AdmissionWeight") == (every, [80.0] * HOURS)
    assert values(features, 0, "AdmissionHeight") == ([], [])
    assert values(features, 0, "CSRU") == (every, [1.0] * HOURS)
    assert values(features, 1, "CSRU") == (every, [0.0] * HOURS)
    assert values(features, 1, "AdmissionAge") == (every, [70.0] * HOURS)


def test_hours_without_a_value_are_missing():
    of = Series(np.array([1, 1]), np.array([5, 70], np.int16), np.array([np.nan, 2.0]))
    table = by_hour(of, 2)
    assert table.shape == (2, HOURS)
    assert np.isnan(table).sum() == 2 * HOURS - 1
    assert table[1, 1] == 2.0
