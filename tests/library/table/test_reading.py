"""Files of rows: what is read, what is refused with its place, what is sampled."""

import itertools
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from described_tables import decided, describe, inferred, use_of
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.preprocess import TableScaler
from deepcac.table.columns.described_rows import DescribedTable, as_declared_numbers
from deepcac.table.columns.description import ColumnField
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.column_tables import column_lines
from deepcac.table.reading import delimited_text
from deepcac.table.reading.outcomes import class_labels
from deepcac.table.reading.table_encoder import TableEncoder, learn_encoder
from deepcac.table.reading.table_files import find_dialect, raw_blocks, read_blocks, sample_rows
from deepcac.table.reading.unfamiliar_rows import Unfamiliar


def frame(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": [f"p{i:03d}" for i in range(n)],
            "age": rng.integers(20, 90, n),
            "crp": rng.normal(10, 3, n).round(2),
            "sex": rng.choice(["f", "m"], n),
            "died": np.where(np.arange(n) % 3 == 0, "yes", "no"),
        }
    )


DIED = use_of("died")


def written(tmp_path, table, name="patients.csv"):
    path = tmp_path / name
    table.to_parquet(path) if name.endswith("parquet") else table.to_csv(path, index=False)
    return path


def read(tmp_path, table, use=DIED, **options):
    return read_labelled(inferred(written(tmp_path, table), use), **options)


def blocks_of(path):
    return raw_blocks(path, find_dialect(path, None))


def rows_of(path):
    table = DescribedTable(path, describe(path, label=None))
    return pa.Table.from_batches(read_blocks(table))


def put(table, column, row, value):
    changed = table.astype({column: object})
    changed.loc[row, column] = value
    return changed


MISTAKES = {
    "a fraction as label": (
        lambda t: t.assign(died=[0.4, *[0, 1] * 29, 1]),
        use_of("died"),
        "'died', data row 1: 0.4 is no class",
    ),
    "one class": (lambda t: t.assign(died="no"), use_of("died"), "'died' holds 'no' in every row"),
    "a number as label": (lambda t: t, use_of("crp"), "'crp', data row 1: .* is no class"),
    "too many classes": (
        lambda t: t,
        use_of("age"),
        "'age' holds [0-9]+ different values; .* at its median by above: [0-9.]+",
    ),
    "unknown label": (lambda t: t, use_of("dead"), "no column 'dead'; there are patient, age"),
    "unknown positive": (lambda t: t, use_of("died", event="ja"), "holds no 'ja'"),
    "an id twice": (
        lambda t: put(t, "patient", 9, "p004"),
        use_of("died", id="patient"),
        "'patient', data row 10: 'p004' occurs in row 5 already",
    ),
    "no id": (
        lambda t: put(t, "patient", 9, None),
        use_of("died", id="patient"),
        "'patient', data row 10: no id",
    ),
    "a rare class": (
        lambda t: t.assign(died=["yes"] * 3 + ["no"] * 57),
        use_of("died"),
        "class 'yes' has fewer than 8 rows: too few",
    ),
    "few rows": (lambda t: t[:30], use_of("died"), "30 rows; at least 40"),
    "empty": (lambda t: t[:0], use_of("died"), "holds no rows"),
    "nothing to predict from": (
        lambda t: t[["patient", "died"]],
        use_of("died", id="patient"),
        "no column is left",
    ),
    "unknown column to drop": (lambda t: t, use_of("died", leave_out=["bmi"]), "no column 'bmi'"),
    "unknown patient": (lambda t: t, use_of("died", patient="who"), "no column 'who'"),
    "unknown site": (lambda t: t, use_of("died", site="at"), "no column 'at'"),
    "nothing above": (lambda t: t, use_of("age", above=200), "no value is above 200"),
    "one patient": (
        lambda t: t.assign(ward="a"),
        use_of("died", patient="ward"),
        "column 'ward' has 1 different values, but at least 8 patients",
    ),
    "above and positive": (
        lambda t: t,
        use_of("age", above=50, event="1"),
        "a number that is divided has no event of its own",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_column_and_row(tmp_path, mistake):
    change, use, message = MISTAKES[mistake]
    with pytest.raises(DataError, match=message):
        read(tmp_path, change(frame()), use)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", "'a' occurs twice"),
        ("a,\n1,2\n", "column 2 has no name"),
        ("a,b\n1,2\n1,2,3\n", "3 cells, .* 2"),
        ("", "is empty"),
        ("age,bmi,died\n63,27,5,1\n63,24,1,0\n", "3 cells, .* 4.*decimal comma"),
        ("age bmi died\n63 27 5 1\n63 24 1 0\n", "3 cells, .* 4"),
        ("id,age,crp\n1,63,27,5\n2,71,24,1\n", "3 cells, .* 4.*decimal comma"),
        ("Trial, 2020\nage,crp,died\n63,27,1\n71,2,0\n", "above the column names"),
        ("Trial, 2020\na,b,c,d\n1,2,3,4\n", "data row 1 has 4 .* above"),
        ("a;b\n1;2\n1;2\n1;2;\n", "data row 3 has 3 "),
    ],
)
def test_a_broken_text_file_is_refused_without_its_cells(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(blocks_of(path))


def test_a_file_that_is_not_there_or_not_utf8_is_named(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(blocks_of(tmp_path / "none.csv"))
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,died\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        list(blocks_of(path))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_and_parquet_give_the_same_features(tmp_path, ending):
    found = read_labelled(inferred(written(tmp_path, frame(), f"t.{ending}"), id="patient"))
    assert found.features.names == ("age", "crp", "sex=m")
    assert np.array_equal(found.features.X[:, 0], frame()["age"])
    assert np.array_equal(found.features.X[:, 2], frame()["sex"] == "m")
    assert np.array_equal(found.features.label, frame()["died"] == "yes")
    assert found.classes == ("no", "yes")
    assert "Positive class: yes (by its name;" in found.remarks[0]


def test_semicolons_and_decimal_commas_are_read(tmp_path):
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False, sep=";", decimal=",")
    found = read_labelled(inferred(path, id="patient"))
    assert np.array_equal(found.features.X[:, 1], frame()["crp"])


def test_a_spreadsheet_is_read_or_says_what_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    frame().to_excel(path, index=False)
    assert read_labelled(inferred(path, id="patient")).features.names[0] == "age"
    twice = frame().set_axis(["patient", "patient", *frame().columns[2:]], axis=1)
    twice.to_excel(path, index=False)
    with pytest.raises(DataError, match=r"t\.xlsx: .*'patient' .*twice"):
        list(blocks_of(path))

    def absent(*a, **k):
        raise ImportError("Missing optional dependency 'openpyxl'")

    monkeypatch.setattr(pd, "ExcelFile", absent)
    with pytest.raises(DataError, match="openpyxl"):
        list(blocks_of(path))


@pytest.mark.parametrize(
    ("values", "classes", "reason"),
    [
        (["-1", "1", "1"], ("-1", "1"), "the larger number"),
        ([0, 1, 0], ("0", "1"), "the larger number"),
        ([1.0, 2.0, 2.0], ("1", "2"), "the larger number"),
        ([True, False, True], ("False", "True"), "by its name"),
        (["Yes", "No", "Yes"], ("No", "Yes"), "by its name"),
        (["Sepsis", "No sepsis", "Sepsis"], ("No sepsis", "Sepsis"), "by its name"),
        (["M", "F", "M"], ("M", "F"), "the rarer one"),
        (["alive", "dead", "alive"], ("alive", "dead"), "by its name"),
        (["10", "9", "100"], ("9", "10", "100"), ""),
        (["+-5", "7", "7"], ("7", "+-5"), "the rarer one"),
    ],
)
def test_classes_are_ordered_and_the_positive_one_said(values, classes, reason):
    found = class_labels(pa.chunked_array([pa.array(values)]), "y")
    assert (found.classes, found.reason) == (classes, reason)
    plain = [str(v).removesuffix(".0") for v in values]
    assert [found.classes[c] for c in found.codes] == plain


def test_the_positive_class_can_be_chosen_and_a_number_divided():
    column = pa.chunked_array([pa.array(["a", "b", "b"])])
    assert class_labels(column, "y", positive="b").codes.tolist() == [0, 1, 1]
    number = pa.chunked_array([pa.array([1.0, 2.5, 3.0])])
    assert class_labels(number, "y", above=2).codes.tolist() == [0, 1, 1]


def test_missing_cells_stay_nan_and_a_category_gets_a_level_for_them(tmp_path):
    table = put(put(frame(), "crp", 0, "NA"), "sex", 1, "?")
    found = read(tmp_path, table, use_of("died", id="patient"))
    assert found.features.names == ("age", "crp", "sex=f", "sex=m", "sex=(missing)")
    assert np.isnan(found.features.X[0, 1])
    assert found.features.X[1].tolist()[2:] == [0, 0, 1]


def test_an_encoder_survives_json_and_says_what_it_has_not_seen():
    rows = pa.table({"sex": ["f", "m", "f"] * 8, "age": [1.0, 2.0, 3.0] * 8})
    number = np.arange(1, 25)
    again = TableEncoder.from_dict(learn_encoder(rows, number, {}).to_dict())
    other = pa.table({"age": [5.0], "sex": ["x"]})
    X = again.encode(other, np.array([1]))
    assert np.isnan(X[0, 1])  # neither f nor m: as if it were missing
    assert X[0, 0] == 5.0
    strange = Unfamiliar.of(again, None)
    strange.add(X, other)
    (remark,) = strange.tell(accept=True)
    assert "'x'" in remark
    assert "counts as missing" in remark
    with pytest.raises(DataError, match="'age' is missing"):
        again.encode(other.select(["sex"]), np.array([1]))


def test_rare_levels_become_one():
    values = [f"level {i}" for i in range(25) for _ in range(30 - i)]
    whole, number = pa.table({"ward": values}), np.arange(1, len(values) + 1)
    encoder = learn_encoder(whole, number, {})
    (column,) = encoder.columns
    assert len(column.levels) == 21
    rows = pa.table({"ward": ["level 24", "level 0"]})
    X = encoder.encode(rows, np.array([1, 2]))
    assert X.sum(axis=1).tolist() == [1, 1]
    assert X[0, encoder.names.index("ward=(other)")] == 1
    strange = Unfamiliar.of(encoder, TableScaler().fit(encoder.encode(whole, number)))
    strange.add(X, rows)
    assert strange.tell() == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(1, 80), st.integers(0, 9))
def test_a_sample_is_bounded_keeps_groups_whole_and_does_not_depend_on_blocks(sizes, most, seed):
    n = sum(sizes)
    table = pa.table({"x": list(range(n)), "g": [str(i // 3) for i in range(n)]})
    ends = np.cumsum([0, *sizes])
    blocks = [table.slice(a, b - a).to_batches()[0] for a, b in itertools.pairwise(ends)]
    one = sample_rows(blocks, ["x"], most=most, seed=seed)
    other = sample_rows(table.to_batches(), ["x"], most=most, seed=seed)
    assert one.number.tolist() == other.number.tolist()
    assert len(one.number) == min(n, most)
    assert (one.total, one.keys.num_rows) == (n, n)
    assert one.rows["x"].to_pylist() == (one.number - 1).tolist()
    if most >= 3:
        grouped = sample_rows(blocks, ["g"], group="g", most=most, seed=seed)
        assert len(grouped.number) <= most
        kept = set(grouped.rows["g"].to_pylist())
        assert sum(g in kept for g in table["g"].to_pylist()) == len(grouped.number)


def test_a_large_table_is_read_in_blocks_and_the_sample_is_said(tmp_path):
    n = 30_000
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")).assign(y=np.arange(n) % 2)
    path = tmp_path / "large.parquet"
    pq.write_table(pa.Table.from_pandas(table), path, row_group_size=1000)
    found = read_labelled(inferred(path, "y", rows=500), rows=500)
    assert (len(found.features.label), found.total) == (500, n)
    assert any("Sampled: 500 of 30,000 rows" in one for one in found.remarks)


@pytest.mark.parametrize(
    ("cells", "second"),
    [(["1,5", "1,250"], 1.25), (["0,125", "1,250"], 1.25), (["1250", "7"], 7.0)],
)
def test_a_comma_that_can_be_one_thing_only_is_read(tmp_path, cells, second):
    table = frame()
    table["titre"] = (cells * len(table))[: len(table)]
    found = read(tmp_path, table).features
    assert found.X[1, found.names.index("titre")] == second


def declared(cells, decimal):
    group = "." if decimal == "," else ","
    field = ColumnField(name="x", type="number", decimal_char=decimal, group_char=group)
    return as_declared_numbers(pa.array(cells, pa.string()), field).to_pylist()


def test_a_zero_is_not_before_thousands():
    cells = ["0.875", "0,875", "1.875"]
    assert declared(cells, ",") == [None, 0.875, 1875]
    assert declared(cells, ".") == [0.875, None, 1.875]


def test_thousands_with_points_and_decimals_are_read_as_asked():
    cells = ["1.234.567,5", "950", "12,25", "abc", "1.5"]
    assert declared(cells, ",") == [1234567.5, 950, 12.25, None, None]
    assert declared(["1,234,567.5", "950", "12,25", None], ".") == [1234567.5, 950, None, None]


def test_stray_quotes_that_swallow_rows_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    lines = ["note,age,died", *(f"a{i},{i},{i % 2}" for i in range(200))]
    lines[20], lines[30] = '"a19,19,1', 'a29",29,1'
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="'note', data row 20: .*lines"):
        read_labelled(inferred(path))


def test_an_empty_cell_of_a_narrow_table_is_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age\n1\n\n3\n")
    rows = pa.Table.from_batches(blocks_of(path))
    assert rows["age"].to_pylist() == ["1", "", "3"]


@pytest.mark.parametrize("sign", [";", "\t"])
def test_signs_inside_quoted_names_are_no_delimiters(tmp_path, sign):
    (tmp_path / "t.csv").write_text(f'"age, in years, now"{sign}died\n63{sign}1\n')
    (block,) = blocks_of(tmp_path / "t.csv")
    assert block.to_pylist() == [{"age, in years, now": "63", "died": "1"}]


def test_names_of_rows_that_differ_need_no_name_of_their_column(tmp_path):
    for sign in ", ":
        text = sign.join(["age", "died"]) + "".join(f"\nr{i}{sign}63{sign}1" for i in range(9))
        (tmp_path / "t.csv").write_text(text)
        (block,) = blocks_of(tmp_path / "t.csv")
        assert block.schema.names == ["(row names)", "age", "died"]


def test_names_that_r_gives_rows_may_stand_before_an_id(tmp_path):
    (tmp_path / "t.csv").write_text('"id","age"\n"1","P7",63\n"2","P9",71\n')
    (block,) = blocks_of(tmp_path / "t.csv")
    assert block.to_pylist()[1] == {"(row names)": "2", "id": "P9", "age": "71"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("\n \nage;died\n63;1\n", ["age", "died"]),
        ("Größe, cm;Gewicht, kg;died\n175;80;0\n", ["Größe, cm", "Gewicht, kg", "died"]),
        ("age, years;died\n63,5;1\n", ["age, years", "died"]),
        ("Größe, cm;Gewicht, kg\n175,5;80,2\n", ["Größe, cm", "Gewicht, kg"]),
        ("crp; mg/l,age,died,note\n5,63,1,a; b\n", ["crp; mg/l", "age", "died", "note"]),
        ("age;died;;\n63;1;;\n;;;\n", ["age", "died"]),
        ("age;died;\n63;1; \n; ;\n", ["age", "died"]),
        ("age;died\n63;1;\n64;0;\n;;\n", ["age", "died"]),
    ],
)
def test_what_a_spreadsheet_leaves_around_a_table_is_no_part_of_it(tmp_path, text, names):
    (tmp_path / "t.csv").write_text(text)
    (block,) = blocks_of(tmp_path / "t.csv")
    assert block.schema.names == names
    assert block.num_rows == sum(map(text.count, ("\n63", "\n64", "\n175", "\n5,")))


@pytest.mark.parametrize(("end", "gap"), [(",\n,\n", False), (",\n,\n64,0\n", True)])
def test_empty_rows_that_shift_row_numbers_are_named(tmp_path, end, gap):
    (tmp_path / "t.csv").write_text("age,died\n63,1\n" + end)
    blocks = list(blocks_of(tmp_path / "t.csv"))
    assert sum(block.num_rows for block in blocks) == 1 + gap
    assert sample_rows(blocks, []).gaps == gap


def test_the_sign_of_a_column_is_judged_where_it_has_cells(tmp_path, monkeypatch):
    """Later, too, than the block that tells the sign of the file."""
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 1 << 9)
    rows = [f"{i},5;{'' if i < 200 else 63 if i < 300 else f'{i},25'};x" for i in range(500)]
    (tmp_path / "t.csv").write_text("crp;bmi;ward\n" + "\n".join(rows) + "\n")
    assert len(list(blocks_of(tmp_path / "t.csv"))) > 9
    assert rows_of(tmp_path / "t.csv")["bmi"].to_pylist()[-1] == 499.25


def test_blanks_around_names_of_the_header_do_not_matter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age, sex ,died\n007,f,1\n")
    (block,) = blocks_of(path)
    assert block.to_pylist() == [{"age": "007", "sex": "f", "died": "1"}]


def test_a_numbers_name_with_an_equals_sign_is_no_level(tmp_path):
    table = frame().assign(**{"dose=mg": np.arange(60) * 7 % 11 / 11})
    found = read(tmp_path, table)
    assert "dose=mg" in found.features.names
    assert found.encoder.level_names == {"sex=m"}


def test_a_damaged_spreadsheet_is_one_line(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04" + bytes(200))
    with pytest.raises(DataError, match="t.xlsx: "):
        read_labelled(inferred(path))


@pytest.mark.parametrize(
    "kind", [pa.string_view(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_kind_of_text_is_read(tmp_path, kind):
    table = frame()
    columns = {name: pa.array(table[name]) for name in table}
    columns["sex"] = pa.array(table["sex"].tolist()).cast(kind)
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    found = read_labelled(inferred(tmp_path / "t.parquet"))
    assert "sex=m" in found.features.names


def test_lists_that_are_left_out_are_not_read_where_another_column_is_a_date(tmp_path):
    table = frame()
    columns = {name: pa.array(table[name]) for name in table}
    columns["admitted"] = pa.array(range(len(table)), pa.duration("s"))
    columns["notes"] = pa.array([[("a", 1)]] * len(table), pa.map_(pa.string(), pa.int8()))
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    found = read_labelled(inferred(tmp_path / "t.parquet", leave_out=("notes",)))
    assert found.total == len(table)


def test_whole_numbers_that_a_double_cannot_tell_apart_are_refused(tmp_path):
    table = frame()
    columns = {name: pa.array(table[name]) for name in table}
    columns["code"] = pa.array([2**53 + 1 + i for i in range(len(table))], pa.int64())
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(ConfigError, match="'code', data row 1: .*measurement"):
        read_labelled(inferred(tmp_path / "t.parquet"))


def test_a_spreadsheet_is_read(tmp_path):
    pytest.importorskip("openpyxl")
    frame().to_excel(tmp_path / "t.xlsx", index=False)
    found = read_labelled(inferred(tmp_path / "t.xlsx", id="patient")).features
    assert found.X.shape == (60, 3)
    for name in ("t.xls", "t.csv"):
        (tmp_path / "t.xlsx").rename(tmp_path / name)
        assert len(read_labelled(inferred(tmp_path / name, id="patient")).rows) == 60
        (tmp_path / name).rename(tmp_path / "t.xlsx")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_text_over_several_lines_is_one_line_where_it_can_hold_no_row(tmp_path, ends):
    path = tmp_path / "t.csv"
    text = f"fell{ends}on ice, twice"
    path.write_bytes(f'note,age,died{ends}"{text}",3,1{ends}x,4,0{ends}'.encode())
    assert rows_of(path)["note"].to_pylist() == ["fell on ice, twice", "x"]
    path.write_bytes(f'note,age,died{ends}"x,3,1{ends}y",4,0{ends}'.encode())
    with pytest.raises(DataError, match="'note', data row 1: .*lines"):
        list(blocks_of(path))


def test_a_ragged_row_is_named_by_its_number_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited_text, "BLOCK_BYTES", 1 << 10)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "12345,2\n" * 999 + "1\n")
    with pytest.raises(DataError, match="data row 1000 .*1 cell, .* 2"):
        list(blocks_of(path))


def test_a_bit_that_flipped_in_a_parquet_page_is_found(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": np.arange(200.0)}), path, compression="none",
                   use_dictionary=False, write_page_checksum=True)  # fmt: skip
    content = bytearray(path.read_bytes())
    content[content.index(np.float64(77.0).tobytes())] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="t.parquet: .*as parquet"):
        list(blocks_of(path))


def test_a_column_of_a_parquet_file_whose_name_is_no_text_is_one_line(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": [1.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"age", b"ag\xe5"))
    with pytest.raises(DataError, match="t.parquet: .*as parquet"):
        list(blocks_of(path))


@pytest.mark.parametrize("error", [TypeError("x"), zlib.error("Error -3"), NotImplementedError()])
def test_whatever_a_damaged_spreadsheet_raises_is_one_line(tmp_path, monkeypatch, error):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"")

    def damaged(*a, **k):
        raise error

    monkeypatch.setattr(pd, "read_excel", damaged)
    with pytest.raises(DataError, match="a spreadsheet"):
        list(blocks_of(path))


@pytest.mark.parametrize("first", [2**53, 2**53 - 1])
def test_labels_that_a_double_cannot_tell_apart_are_refused(first):
    column = pa.chunked_array([pa.array([first, first + 1], pa.int64())])
    with pytest.raises(DataError, match="is no class"):
        class_labels(column, "y")


def test_no_line_of_a_column_tells_of_few_patients():
    rows = pa.table(
        {
            "rare": [1.5, 2.5, 3.5, *[None] * 57],
            "ward": ["icu"] * 40 + ["er"] * 17 + ["cellar"] * 3,
            "sex": ["f"] * 30 + ["m"] * 28 + [None] * 2,
        }
    )
    encoder = learn_encoder(rows, np.arange(1, 61), {})
    found = {line[0]: line[2:4] for line in column_lines(rows, encoder.columns)}
    assert found == {
        "rare": ("55 (92 %)", "withheld"),
        "ward": ("0", "icu 67 %, er 25 %, …"),
        "sex": ("fewer than 8", "f 50 %, m 50 %"),
    }


def test_a_row_whose_patient_is_not_a_number_has_no_group(tmp_path):
    """A parquet file may hold NaN where a cell is empty."""
    table = frame()
    columns = {name: pa.array(table[name]) for name in table}
    columns["stay"] = pa.array(np.where(np.arange(60) == 6, np.nan, np.arange(60.0)))
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="'stay', data row 7"):
        read_labelled(inferred(tmp_path / "t.parquet", patient="stay"))


def test_a_time_is_no_number_to_divide():
    column = pa.chunked_array([pa.array([1, 2], pa.timestamp("us"))])
    with pytest.raises(DataError, match="'y' .*timestamp.us."):
        class_labels(column, "y", above=1.0)


def test_texts_that_are_the_words_for_rare_and_missing_are_these_levels():
    texts = ["a"] * 20 + ["(missing)"] * 10 + ["(other)"] * 10 + ["rare"] * 2 + [None] * 8
    rows = pa.table({"ward": texts, "only": ["(missing)"] * 42 + [None] * 8})
    number = np.arange(1, 51)
    encoder = learn_encoder(rows, number, {})
    assert encoder.names == ("ward=a", "ward=(other)", "ward=(missing)")
    assert encoder.encode(rows, number).sum(axis=0).tolist() == [20, 12, 18]
    assert TableEncoder.from_dict(encoder.to_dict()).names == encoder.names


def test_a_class_that_the_sample_lacks_is_not_said_to_be_absent(tmp_path):
    table = pd.DataFrame({"age": np.arange(4000) % 71, "died": np.arange(4000) < 8})
    with pytest.raises(DataError, match="8 rows in the sample"):
        read_labelled(inferred(written(tmp_path, table, "t.parquet"), rows=100), rows=100)


def test_nothing_rests_on_the_order_of_the_columns(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["urea", "age", "crp"]).round(3)
    frame["ward"] = rng.choice(["a", "b", "c"], 80)
    frame["died"] = np.arange(80) % 2
    tables = []
    for name, columns in (("forth", frame.columns), ("back", frame.columns[::-1])):
        frame[columns].to_csv(tmp_path / f"{name}.csv", index=False)
        tables.append(read_labelled(decided(tmp_path / f"{name}.csv")))
    forth, back = tables
    assert forth.features.names == back.features.names
    np.testing.assert_array_equal(forth.features.X, back.features.X)
    assert column_lines(forth.rows, forth.columns) == column_lines(back.rows, back.columns)[::-1]
