"""The names of subtypes, by hand."""

import numpy as np

from deepcac.subtyping.subtype_names import subtype_names


def test_a_variable_is_named_once_by_its_strongest_column():
    names = ["GCS_last", "GCS_lowest", "GCS_highest", "Urine_mean", "Age", "HR_first"]
    difference = np.array([[[0.9, 0.7, 0.6, -0.5, 0.3, 0.2]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.01]]])
    assert subtype_names(difference, names, np.array([0, 1])) == [
        "GCS_last +0.90, Urine_mean -0.50, Age +0.30",
        "as all patients",
    ]


def test_an_underscore_alone_is_no_statistic():
    difference = np.array([[[0.4, 0.3]]])
    assert subtype_names(difference, ["blood_urea", "blood_sugar"], np.array([0, 1])) == [
        "blood_urea +0.40, blood_sugar +0.30"
    ]
