"""Plausible ranges: what lies outside is counted, whatever becomes of it later."""

import numpy as np
import pyarrow as pa
from sepsis_files import stay, tidy

from deepcac.feature_matrix import FeatureMatrix
from deepcac_study.features.cic import RANGES, cohort_details
from deepcac_study.features.columns.ranges import Range, count_outside, read_ranges
from deepcac_study.features.columns.stay_columns import implausible


def test_values_outside_are_counted_and_logged(caplog):
    ranges = {
        "HR": Range("HR", "1/min", 0.0, 350.0),
        "pH": Range("pH", "1", 6.3, None),
        "Age": Range("Age", "years", 0.0, 120.0),
    }
    values = {
        "HR": np.array([np.nan, 1e30, -1.0, 0.0, 350.0]),
        "pH": np.array([6.2, 100.0]),
        "Age": np.array([0.0, 120.0, np.nan]),
        "odd": np.array([1e300]),
    }
    with caplog.at_level("INFO", logger="deepcac_study"):  # other tests change the level
        counted = count_outside(values.items(), ranges)
    assert counted == [
        {"variable": "HR", "unit": "1/min", "range": "0 to 350", "values": 4, "outside": 2},
        {"variable": "pH", "unit": "1", "range": "6.3 to inf", "values": 2, "outside": 1},
    ]
    assert "HR: 2 of 4 values outside 0 to 350" in caplog.text
    # For the log file of the job; the terminal shows warnings only.
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_ages_and_heart_rates_of_physionet_2019_are_counted_before_they_are_clipped(tmp_path):
    stays = {1: stay(30, Age=-5, HR=1e30), 2: stay(30, HR=80.0)}
    found = {row["variable"]: row["outside"] for row in implausible(tidy(tmp_path, stays))}
    assert found == {"Age": 30, "HR": 30}


def test_ages_and_heart_rates_of_physionet_2012_are_counted():
    names = ["Age", "HR", "HR", "Age", "HR"]
    events = pa.table(
        {
            "parameter": pa.array(names).dictionary_encode(),
            "value": [-5.0, 1e30, 80.0, -1.0, -1.0],  # -1 is the code for unknown
        }
    )
    features = FeatureMatrix(
        np.array([1]), np.array([0]), np.zeros((1, 1)), ("x",), np.array(["a"])
    )
    found = cohort_details(events, np.array(["a"]), features, [])["outside"]
    assert {row["variable"]: (row["outside"], row["values"]) for row in found} == {
        "Age": (1, 1),
        "HR": (1, 2),
    }
    assert read_ranges(RANGES)["Age"].bounded
