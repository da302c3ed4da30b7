"""The names of subtypes, by hand."""

import numpy as np

from deepcac.subtyping.subtype_names import subtype_levels, subtype_names

CLASSES = np.array([0, 1])


def test_a_variable_is_named_once_by_its_strongest_column():
    names = ["GCS_last", "GCS_lowest", "GCS_highest", "Urine_mean", "Age", "HR_first"]
    difference = np.array([[[0.9, 0.7, 0.6, -0.5, 0.3, 0.2]], [[0.0, 0.0, 0.0, 0.0, 0.0, 0.01]]])
    assert subtype_names(difference, [[""] * 6] * 2, names, CLASSES) == [
        "GCS_last raises the risk (+0.90); Urine_mean lowers the risk (-0.50); "
        "Age raises the risk (+0.30)",
        "as all patients",
    ]


def test_an_underscore_alone_is_no_statistic():
    difference = np.array([[[0.4, 0.3]]])
    assert subtype_names(difference, [["", ""]], ["blood_urea", "blood_sugar"], CLASSES) == [
        "blood_urea raises the risk (+0.40); blood_sugar raises the risk (+0.30)"
    ]


def test_a_subtype_of_women_is_not_named_as_men():
    """That a column raises the risk says nothing of its values: here nobody has it."""
    male = np.repeat([0.0, 1.0], [20, 20])
    age = np.concatenate([np.full(20, 70.0), np.full(20, 50.0)])
    levels = subtype_levels(np.column_stack([male, age]), np.repeat([0, 1], 20), 2)
    names = subtype_names(
        np.array([[[1.51, 0.2]], [[-1.51, 0.0]]]), levels, ["sex=male", "age"], CLASSES
    )
    assert names == [
        "sex=male in 0 % (all: 50 %) raises the risk (+1.51); "
        "age about 70 (all: 60) raises the risk (+0.20)",
        "sex=male in 100 % (all: 50 %) lowers the risk (-1.51)",
    ]


def test_levels_tell_of_no_few_patients():
    flag = np.concatenate([np.repeat([0.0, 1.0], [28, 2]), np.ones(30), np.full(4, 0.0)])
    number = np.concatenate([np.arange(60.0), np.full(4, np.nan)])
    subtype = np.repeat([0, 1, 2], [30, 30, 4])
    levels = subtype_levels(np.column_stack([flag, number]), subtype, 3)
    assert levels == [
        [" in few", " about 14.5 (all: 29.5)"],
        [" in 100 %", " about 44.5 (all: 29.5)"],
        ["", ""],
    ]


def test_the_share_of_all_rows_tells_of_no_few_patients():
    subtype = np.repeat([0, 1], 30)
    rare = np.repeat([1.0, 0.0], [2, 58])
    split = np.concatenate([np.repeat([1.0, 0.0], [2, 28]), np.repeat([1.0, 0.0], [10, 20])])
    levels = subtype_levels(np.column_stack([rare, 1 - rare, split]), subtype, 2)
    assert levels == [
        [" in few", " in nearly all", " in few"],
        [" in 0 %", " in 100 %", " in 33 %"],
    ]
    # A subtype of which nothing is said would follow from the others too.
    missing = split.copy()
    missing[5:30] = np.nan
    assert subtype_levels(missing[:, None], subtype, 2) == [[""], [" in 33 %"]]
    missing[:] = np.nan
    assert subtype_levels(missing[:, None], subtype, 2) == [[""], [""]]


def test_the_class_is_named_unless_it_is_the_event_by_custom():
    for classes, of in (
        ((0, 1), ""),
        ((False, True), ""),
        (("ja", "nein"), " of nein"),
        ((1, 2), " of 2"),
    ):
        name = subtype_names(np.array([[[0.9]]]), [[""]], ["age"], np.array(classes))[0]
        assert name == f"age raises the risk{of} (+0.90)"
