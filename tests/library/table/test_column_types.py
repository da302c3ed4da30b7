"""Columns of any arrow type: read as what they hold, or refused in one line that names them."""

import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from described_tables import inferred, use_of
from pyarrow import feather

from deepcac.errors import DataError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.cells import plain_type, row_names
from deepcac.table.elsewhere.folds import _same_columns
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.risk_tables import fit_table, predict_table


def patients(n=60):
    draw = np.random.default_rng(0)
    died = np.where(draw.random(n) < 0.4, "yes", "no")
    return pa.table({"age": draw.integers(20, 90, n), "crp": draw.normal(10, 3, n), "died": died})


@pytest.mark.parametrize(
    ("column", "kind", "cells"),
    [
        (pa.array(["a", None], pa.string_view()), pa.string(), ["a", None]),
        (pa.array(["a", None]).dictionary_encode(), pa.string(), ["a", None]),
        (pa.array(np.float16([0.5, 2])), pa.float32(), [0.5, 2.0]),
        (pa.RunEndEncodedArray.from_arrays([1, 3], [7, 8]), pa.int64(), [7, 8, 8]),
        (
            pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None], pa.int8())),
            pa.bool_(),
            [True, False, None],
        ),
        (
            pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", None])),
            pa.string(),
            ["1", None],
        ),
    ],
)
def test_a_column_becomes_one_of_the_usual_types(column, kind, cells):
    plain = plain_type("x", column)
    assert plain.type == kind
    assert plain.to_pylist() == cells


def test_columns_of_two_tables_are_text_where_types_differ_but_for_lists():
    one = pa.table({"age": [1], "notes": [["a"]]})
    other = pa.table({"age": ["2"], "notes": ["b"]})
    assert _same_columns([one, other]).to_pydict() == {"age": ["1", "2"]}


def test_a_uuid_is_an_id_and_stands_in_the_file_of_risks(tmp_path):
    names = [str(uuid.UUID(int=i)) for i in range(60)]
    storage = pa.array([uuid.UUID(name).bytes for name in names], pa.binary(16))
    table = patients().append_column("id", pa.ExtensionArray.from_storage(pa.uuid(), storage))
    feather.write_feather(table, tmp_path / "t.feather")
    roles = use_of("died", id="id")
    fit_table(
        inferred(tmp_path / "t.feather", roles),
        tmp_path / "m.json",
        TableRun(len, rows=99, jobs=1),
        method="plain",
    )
    predict_table(tmp_path / "m.json", tmp_path / "t.feather", tmp_path / "r.csv", say=len)
    assert pd.read_csv(tmp_path / "r.csv")["id"].tolist() == names


@pytest.mark.parametrize("role", ["id", "patient"])
@pytest.mark.parametrize("cell", [[1], b"\xff"], ids=["list", "bytes"])
def test_lists_and_bytes_name_no_row(cell, role, tmp_path):
    table = patients().append_column("x", pa.array([cell] * 60))
    feather.write_feather(table, tmp_path / "t.feather")
    with pytest.raises(DataError, match=r"column 'x' .*(list<|binary)"):
        read_labelled(inferred(tmp_path / "t.feather", **{role: "x"}))


def test_a_union_is_refused_and_a_date_may_name_rows():
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    with pytest.raises(DataError, match="column 'x' .*sparse_union"):
        plain_type("x", union)
    dates = pa.chunked_array([pa.array([0], pa.date32())])
    assert row_names(dates, "x", "an id").to_pylist() == dates.to_pylist()


def test_a_damaged_feather_file_is_refused(tmp_path):
    table = pa.table({"ward": pa.array(["icu", "er"] * 40)})
    feather.write_feather(table, tmp_path / "t.feather", compression="uncompressed")
    content = bytearray((tmp_path / "t.feather").read_bytes())
    place = content.find(np.array([0, 3, 5, 8], dtype="<i4").tobytes())
    assert place > 0  # where the first texts begin
    content[place + 4 : place + 8] = (2**30).to_bytes(4, "little")
    (tmp_path / "t.feather").write_bytes(bytes(content))
    with pytest.raises(DataError, match="as feather"):
        read_labelled(inferred(tmp_path / "t.feather", "ward"))
