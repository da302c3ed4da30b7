"""Feature files, and tables of one's own: what a label, an id and a feature may be."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix, read_features, write_features
from deepcac.files.storage import write_table

GOOD = {"row_id": [1, 2, 3, 4], "label": [0, 1, 0, 1], "dose": [0.5, None, 2.0, 3.0]}


def read(tmp_path, **columns):
    write_table(tmp_path / "own.parquet", pa.table(GOOD | columns))
    return read_features(tmp_path / "own.parquet")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ([0, 1, 0, 1], [0, 1, 0, 1]),
        ([1, 2, 1, 2], [0, 1, 0, 1]),
        ([7, -1, 7, 40], [1, 0, 1, 2]),
        ([1.0, 0.0, 1.0, 0.0], [1, 0, 1, 0]),
        ([0.0, 1.0, -0.0, 1.0], [0, 1, 0, 1]),
        ([True, False, False, True], [1, 0, 0, 1]),
        (["well", "ill", "well", "dead"], [2, 1, 2, 0]),
        (pa.array(["b", "a", "a", "b"]).dictionary_encode(), [1, 0, 0, 1]),
        (pa.array(["b", "a", "a", "b"], pa.large_string()), [1, 0, 0, 1]),
    ],
)
def test_labels_become_class_ids_in_their_order(tmp_path, label, expected):
    features = read(tmp_path, label=label)
    assert features.label.tolist() == expected
    assert features.n_classes == max(expected) + 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [0, 1, None, 1]}, "column 'label', row 3: missing"),
        ({"label": [0, 1, float("nan"), 1]}, "column 'label', row 3: missing"),
        ({"label": [0, 1, 0.5, 1]}, r"column 'label', row 3: 0\.5 is no class"),
        ({"label": [0, 1, float("inf"), 1]}, "column 'label', row 3: inf "),
        ({"label": [0, 1, 1e300, 1]}, r"column 'label', row 3: 1e\+300 is no class"),
        ({"label": [1, 1, 1, 1]}, "column 'label' holds 1 different values; 2 to 128"),
        ({"label": [[0], [1], [0], [1]]}, "'label' .*list"),
        ({"row_id": ["a", "b", "a", "c"]}, "column 'row_id', row 3: "),
        ({"row_id": [1, 2, 2, 4]}, "row id 2 occurs twice"),
        ({"row_id": [1, 2, None, 4]}, "column 'row_id', row 3: missing"),
        ({"row_id": [1.5, 2.5, 1.5, 0.0]}, r"column 'row_id', row 3: "),
        ({"row_id": pa.array([1, 2, 3, 2**63 + 1], pa.uint64())}, "row_id.*64 bits"),
        ({"sex": ["m", "f", "m", "f"]}, "feature 'sex' .*string"),
        ({"day": [datetime.date(2020, 1, 1)] * 4}, "feature 'day' .*date32"),
        ({"dose": [0.5, float("inf"), 1.0, 1.0]}, "feature 'dose', row 2: an infinite value"),
    ],
)
def test_what_is_wrong_is_named_with_column_and_row(tmp_path, columns, message):
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, **columns)
    assert str(caught.value).count("own.parquet") == 1
    assert "\n" not in str(caught.value)


def test_ids_of_any_kind_and_features_of_any_number(tmp_path):
    features = read(
        tmp_path,
        row_id=["p4", "p1", "p3", "p2"],
        dose=pa.array([1, None, 3, 4], pa.int32()),
        smoker=[True, False, None, True],
        empty=pa.nulls(4),
    )
    assert features.row_id.tolist() == [1, 2, 3, 4]
    assert features.names == ("dose", "smoker", "empty")
    np.testing.assert_array_equal(features.X[:, 0], [1, np.nan, 3, 4])
    np.testing.assert_array_equal(features.X[:, 1], [1, 0, np.nan, 1])
    assert np.isnan(features.X[:, 2]).all()
    assert read(tmp_path, row_id=pa.array([9, 8, 7, 6], pa.uint8())).row_id.tolist() == [9, 8, 7, 6]


@given(
    st.lists(st.one_of(st.integers(-9, 9)), min_size=2, max_size=40).filter(
        lambda v: len(set(v)) > 1
    )
)
def test_a_relabelled_table_is_the_same_task(tmp_path_factory, values):
    """Against a plain reference: position among the sorted values."""
    folder = tmp_path_factory.mktemp("own")
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    table = {"row_id": range(len(values)), "label": values, "x": [0.0] * len(values)}
    write_table(folder / "t", pa.table({name: list(each) for name, each in table.items()}))
    assert read_features(folder / "t").label.tolist() == [ranks[value] for value in values]


def test_what_is_written_is_read(tmp_path):
    whole = FeatureMatrix(
        np.array([3, 1, 2]), np.array([0, 1, 1]), np.array([[1.0], [np.nan], [2.0]]), ("x",)
    )
    write_features(tmp_path / "f", whole)
    back = read_features(tmp_path / "f")
    assert back.row_id.tolist() == [1, 2, 3]
    assert back.label.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(back.X[:, 0], [np.nan, 2, 1])


@pytest.mark.parametrize("label", [[0, 1, -1], [0.0, 1.0, 1.0]])
def test_labels_in_memory_are_class_ids(label):
    with pytest.raises(DataError, match="class ids from 0"):
        FeatureMatrix(np.arange(3), np.array(label), np.zeros((3, 1)), ("x",))


def test_more_classes_than_a_file_holds_are_refused(tmp_path):
    n = 129
    many = FeatureMatrix(np.arange(n), np.arange(n), np.zeros((n, 1)), ("x",))
    with pytest.raises(DataError, match="class 128; 128 classes fit"):
        write_features(tmp_path / "f", many)
