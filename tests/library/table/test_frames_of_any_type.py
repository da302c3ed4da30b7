"""A frame of any types ends in risks or in one line, whoever made it."""

import datetime
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from models import KINDS, table

import deepcac
from deepcac.errors import DataError

CELLS = {
    "whole numbers and fractions": pd.Series([1, 2.5] * 80, dtype=object),
    "numbers and texts of numbers": pd.Series([1, "2"] * 80, dtype=object),
    "nothing": None,
    "lists": pd.Series([[1]] * 160),
    "lists and numbers": pd.Series([[1], 2] * 80),
    "records": pd.Series([{}] * 160),
    "bytes that are no text": b"\xff",
    "dates": datetime.date(2020, 1, 1),
    "a time of a zone": pd.Timestamp("2020", tz="UTC"),
    "intervals": pd.Interval(0, 1),
    "complex numbers": 1j,
    "categories": pd.Categorical(np.resize(["a", "b"], 160)),
    "sparse": pd.arrays.SparseArray(np.zeros(160)),
    "whole numbers with holes": pd.array(np.resize([1, None], 160), dtype="Int64"),
    "a number beyond int64": 10**40,
    "UUID": uuid.uuid4(),
    "objects": object(),
    "binary of arrow": pd.array([b"1"] * 160, dtype=pd.ArrowDtype(pa.binary())),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.json"
    KINDS["command, k-means"].make(path)
    return deepcac.load(path)


def frame():
    X, _ = table()
    return X.assign(ward=np.resize(["icu", "er"], len(X)), sex="m")


@pytest.mark.parametrize("column", ["sodium", "ward"])
@pytest.mark.parametrize("cells", CELLS)
def test_a_column_of_any_type_gives_risks_or_one_line(cells, column, model):
    rows = frame()
    rows[column] = CELLS[cells]
    try:
        risk = model.predict_proba(rows)
    except DataError as error:
        assert f"column {column!r}" in str(error)
        assert "\n" not in str(error)
    else:
        assert np.allclose(risk.sum(axis=1), 1)


def test_a_column_without_a_value_has_the_risks_of_missing_values(model):
    rows = frame()
    absent = model.predict_proba(rows.assign(sodium=np.nan), accept_unseen=True)
    assert np.array_equal(model.predict_proba(rows.assign(sodium=None), accept_unseen=True), absent)
    with pytest.raises(DataError, match="'sodium': no value in"):
        model.predict_proba(rows.assign(sodium=None))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda X: X.to_numpy(), "a ndarray"),
        (lambda X: X.iloc[:0], "holds no rows"),
        (lambda X: pd.concat([X, X], axis=1), "'sodium' occurs twice"),
        (lambda X: X.set_axis(range(6), axis=1), "'albumin' is missing"),
        (lambda X: None, "rows are a NoneType"),
    ],
)
def test_what_is_no_frame_of_the_table_is_told(rows, words, model):
    with pytest.raises(DataError, match=words):
        model.predict_proba(rows(frame()))
