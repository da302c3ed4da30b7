"""Adult, Credit, MAGIC, Titanic: raw lines by hand to tidy tables and features, and bad input."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from catalogued import extracted, made
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.variables import Variable, levels_of, read_variables
from deepcac_study.features import flat as features
from deepcac_study.raw.delimited import read_delimited
from deepcac_study.sources import flat_tables as flat

ADULT = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K
54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 60, South, >50K
28, Private, 338409, Bachelors, 13, Married-civ-spouse, Prof-specialty, Wife, Black, Female, 0, 0, 40, Cuba, <=50K

"""
ADULT_TEST = """\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, ?, <=50K.
44, Private, 160323, Some-college, 10, Married-civ-spouse, Machine-op-inspct, Husband, Black, Male, 7688, 0, 40, United-States, >50K.
"""
MAGIC = """\
28.7967,16.0021,2.6449,0.3918,0.1982,27.7004,22.011,-8.2027,40.092,81.8828,g
31.6036,11.7235,2.5185,0.5303,0.3773,26.2722,23.8238,-9.9574,6.3609,205.261,h
"""
TITANIC = """\
"pclass","survived","name","sex","age","sibsp","parch","ticket","fare","cabin","embarked","boat","body","home.dest"
1,1,"Allison, Master. Hudson Trevor","male","0.9167",1,2,"113781",151.55,"C22 C26","S","11",,"Montreal"
3,0,"Storey, Mr. Thomas","male",60.5,0,0,"3701",,,"S",,261,
1,1,"Allen, Miss. Elisabeth Walton","female",29,0,0,"24160",211.3375,"B5",,"2",,"St Louis, MO"
"""


def credit(*rows: str) -> str:
    names = [variable.name for variable in read_variables("uci_credit")]
    return "\n".join([",".join(f'"{name}"' for name in names), *rows]) + "\n"


CREDIT_ROW = "20000,2,2,1,24,2,2,-1,-1,-2,-2,3913,3102,689,0,0,0,0,689,0,0,0,0,1"


@pytest.fixture
def put(tmp_path):
    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def adult(put, tmp_path):
    tidy, cohort = tmp_path / "people.parquet", tmp_path / "cohort.json"
    flat.extract_adult(put("adult.data", ADULT), put("adult.test", ADULT_TEST), tidy, cohort)
    steps = json.loads(cohort.read_text())["flow"]
    assert [step["rows"] for step in steps] == [3, 5]
    return read_table(tidy)


def test_adult_files_are_pooled_in_file_order(adult):
    assert adult["row_id"].to_pylist() == [1, 2, 3, 4, 5]
    assert adult["group"].to_pylist() == ["train"] * 3 + ["test"] * 2
    assert adult["age"].to_pylist() == [39, 54, 28, 25, 44]
    assert adult["workclass"].to_pylist() == ["State-gov", None, "Private", "Private", "Private"]
    assert adult["income"].to_pylist() == ["<=50K", ">50K", "<=50K", "<=50K", ">50K"]
    assert levels_of(adult.schema.field("sex")) == ("Female", "Male")


def test_adult_sound_is_one_hot_with_missing_as_a_category(adult):
    matrix = features.adult(adult)
    column = {name: matrix.X[:, j].tolist() for j, name in enumerate(matrix.names)}
    assert matrix.label.tolist() == [0, 1, 0, 0, 1]
    assert column["age"] == [39, 54, 28, 25, 44]
    assert column["sex=Male"] == [1, 1, 0, 1, 1]
    assert "sex=Female" not in column
    assert column["workclass=missing"] == [0, 1, 0, 0, 0]
    assert column["native-country=missing"] == [0, 0, 0, 1, 0]
    assert column["workclass=Private"] == [0, 0, 1, 1, 1]
    assert "workclass=Without-pay" not in column  # a level that no row has
    assert "capital-loss" not in column  # the same in all rows
    assert matrix.group.tolist() == ["train"] * 3 + ["test"] * 2


def test_adult_as_published_is_the_train_file_in_ranks(adult):
    matrix = features.adult(adult, Protocol(frozenset({"A12", "U2"})))
    assert matrix.names == features.ADULT
    assert matrix.row_id.tolist() == [1, 2, 3]
    column = {name: matrix.X[:, j].tolist() for j, name in enumerate(matrix.names)}
    assert column["age"] == [1, 2, 0]  # 39 54 28
    assert column["workclass"] == [2, 0, 1]  # State-gov ? Private
    assert column["education-num"] == [1, 0, 1]
    assert features.adult(adult, Protocol(frozenset({"U2"}))).X.shape == (5, 14)
    assert features.adult(adult, Protocol(frozenset({"A12"}))).row_id.tolist() == [1, 2, 3]


def test_adult_as_published_is_ordered_by_loss_then_gain(adult):
    def put_in(table, name, values):
        place = table.column_names.index(name)
        return table.set_column(place, table.schema.field(name), [pa.array(values, pa.float64())])

    turned = put_in(put_in(adult, "capital-loss", [0, 0, 9, 5, 5]), "capital-gain", [1, 2, 0, 0, 0])
    matrix = features.adult(turned, Protocol(frozenset({"A12"})))
    assert matrix.row_id.tolist() == [1, 2, 3]
    assert matrix.X[:, matrix.names.index("age")].tolist() == [28, 54, 39]
    assert matrix.label.tolist() == [0, 1, 0]
    assert features.adult(turned).X[:, 0].tolist() == [39, 54, 28, 25, 44]


def test_titanic_leaves_out_what_is_known_after_the_outcome(put, tmp_path):
    tidy = tmp_path / "p.parquet"
    extracted("titanic", put("titanic3.csv", TITANIC), tidy, tmp_path / "c.json")
    matrix = made("titanic", read_table(tidy))
    assert matrix.names == ("pclass", "sex=female", "age", "sibsp", "parch", "fare")
    assert matrix.label.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(
        matrix.X,
        [[1, 0, 0.9167, 1, 2, 151.55], [3, 0, 60.5, 0, 0, np.nan], [1, 1, 29, 0, 0, 211.3375]],
    )


def test_magic_gamma_is_class_1(put, tmp_path):
    tidy = tmp_path / "e.parquet"
    extracted("uci_magic", put("magic04.data", MAGIC), tidy, tmp_path / "c.json")
    matrix = made("magic", read_table(tidy))
    assert matrix.label.tolist() == [1, 0]
    assert matrix.names[0] == "fLength"
    assert matrix.X[1, 9] == 205.261


def test_credit_rows_are_ordered_by_client(put, tmp_path):
    tidy = tmp_path / "c.parquet"
    other = CREDIT_ROW.replace("20000,2", "50000,1")[:-1] + "0"
    raw = put("c.csv", credit(f"7,{other}", f"3,{CREDIT_ROW}"))
    extracted("uci_credit", raw, tidy, tmp_path / "c.json")
    matrix = made("credit", read_table(tidy))
    assert matrix.row_id.tolist() == [3, 7]
    assert matrix.label.tolist() == [1, 0]
    assert dict(zip(matrix.names, matrix.X[1], strict=True)) == {"LIMIT_BAL": 50000, "SEX": 1}


def test_columns_are_found_by_their_names(put, tmp_path):
    row = CREDIT_ROW.split(",")
    row[1], row[2] = "1", "3"
    turned = ",".join([row[0], row[2], row[1], *row[3:]])
    header = credit().replace('"SEX","EDUCATION"', '"EDUCATION","SEX"')
    for name, text in (("a", credit(f"1,{','.join(row)}")), ("b", f"{header}1,{turned}\n")):
        extracted("uci_credit", put(f"{name}.csv", text), tmp_path / name, tmp_path / "c.json")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_no_feature_changes_with_the_label(adult):
    place = adult.column_names.index("income")
    swapped = pc.if_else(pc.equal(adult["income"], "<=50K"), ">50K", "<=50K")
    other = adult.set_column(place, adult.schema.field("income"), swapped)
    np.testing.assert_array_equal(features.adult(adult).X, features.adult(other).X)
    assert (features.adult(adult).label == 1 - features.adult(other).label).all()


LINE = MAGIC.splitlines()[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not 11 comma-separated columns"),
        ("\n\n", "not 11 comma-separated columns|holds no rows"),
        (MAGIC[:-20], "not 11 comma-separated columns"),
        (MAGIC.replace(",", ";"), "not 11 comma-separated columns"),
        (MAGIC.replace("0.1982", "a lot"), "data row 1, fConc1: 'a lot' "),
        (MAGIC.replace("0.1982", ""), "data row 1, fConc1: value is missing"),
        (MAGIC.replace("0.1982", "1.1982"), "data row 1, fConc1: '1.1982' is outside 0.0 to 1.0"),
        (MAGIC.replace("0.1982", "inf"), "is not a number"),
        (MAGIC.replace("0.1982", "nan"), "is not a number"),
        (MAGIC.replace(",h", ",proton"), "data row 2, class: 'proton' "),
        (b"\xff\xfe" + MAGIC.encode("utf-16-le"), "comma-separated columns"),
        (MAGIC.replace(",g", ",\udcff").encode(errors="surrogateescape"), "UTF8"),
    ],
)
def test_bad_flat_files_are_one_line(put, tmp_path, content, message):
    path = put("magic04.data", content)
    with pytest.raises(DataError, match=message) as caught:
        extracted("uci_magic", path, tmp_path / "e.parquet", tmp_path / "c.json")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "e.parquet").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (credit(f"1,{CREDIT_ROW}", f"1,{CREDIT_ROW}"), "data row 2, ID: '1' occurs twice"),
        (credit(f"1.5,{CREDIT_ROW}"), "ID: '1.5' "),
        (credit(f"1,{CREDIT_ROW}").replace('"SEX"', '"GENDER"'), "column 'SEX' is missing"),
        (credit(), "holds no rows|not 25"),
        (
            credit(f"1,{CREDIT_ROW}").replace('"SEX","EDUCATION"', '"SEX","SEX"'),
            "'SEX' occurs twice",
        ),
        (f"1,{CREDIT_ROW}\n", "column 'ID' is missing"),
    ],
)
def test_bad_credit_files(put, tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        extracted("uci_credit", put("c.csv", content), tmp_path / "t", tmp_path / "c.json")


def test_same_bytes_each_time(put, tmp_path):
    raw = put("titanic3.csv", TITANIC)
    for name in ("one", "two"):
        extracted("titanic", raw, tmp_path / name, tmp_path / f"{name}.json")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file"):
        extracted("titanic", tmp_path / "nowhere.csv", tmp_path / "t", tmp_path / "c")


def test_one_row_is_enough(put):
    table = read_delimited(put("m", LINE), read_variables("uci_magic"), header=False)
    assert table.num_rows == 1


SMALL = (
    Variable("id", "id", low=0, high=99),
    Variable("x", "number", low=-5, high=5, missing=True),
    Variable("kind", "category", levels=("a", "b")),
)
cell = st.one_of(
    st.sampled_from(["1", "2", "-3.5", "a", "b", "", " a", "nan", "1e400", '"', "x" * 80, "0x1"]),
    st.text(max_size=5),
)


@given(
    st.one_of(
        st.lists(st.lists(cell, min_size=1, max_size=4), max_size=5).map(
            lambda rows: "\n".join(",".join(row) for row in rows).encode()
        ),
        st.binary(max_size=60),
    ),
    st.booleans(),
)
def test_any_bytes_give_a_checked_table_or_a_data_error(tmp_path_factory, content, header):
    path = tmp_path_factory.mktemp("fuzz") / "small.csv"
    path.write_bytes(content)
    try:
        table = read_delimited(path, SMALL, header=header, comment="|")
    except DataError:
        return
    x = [value for value in table["x"].to_pylist() if value is not None]
    assert all(-5 <= value <= 5 for value in x)
    assert len(set(table["id"].to_pylist())) == table.num_rows
    assert set(table["kind"].to_pylist()) <= {"a", "b"}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 99), st.none() | st.floats(-5, 5, width=32), st.sampled_from("ab")
        ),
        min_size=1,
        unique_by=lambda row: row[0],
    )
)
def test_what_was_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("round") / "small.csv"
    path.write_text("".join(f"{i}, {'' if x is None else repr(x)},{k}\n" for i, x, k in rows))
    table = read_delimited(path, SMALL, header=False)
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_every_variable_table_reads():
    for source in ("uci_adult", "uci_credit", "uci_magic", "titanic", "uci_diabetes", "wids"):
        for variable in read_variables(source):
            assert variable.kind in ("id", "number", "integer", "category", "text")
            assert bool(variable.levels) == (variable.kind == "category")
            assert variable.meaning
            if variable.low is not None and variable.high is not None:
                assert variable.low < variable.high
            assert isinstance(variable.field(), pa.Field)
