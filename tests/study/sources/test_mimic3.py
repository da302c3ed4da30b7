import csv
import gzip
import zlib

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mirrors import MIRROR

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.features.ards import ards
from deepcac_study.features.columns.hourly import AGGREGATES
from deepcac_study.sources.mimic3 import aggregates as window_aggregates
from deepcac_study.sources.mimic3 import extract, items, scan
from deepcac_study.sources.mimic3 import raw_tables as tables

# Three stays: 1 is MetaVision with a later ARDS, 2 is CareVue and healthy, 3 is too short.
TABLES = {
    "PATIENTS": """row_id,subject_id,gender,dob
1,11,F,2100-01-01 00:00:00
2,12,M,1850-01-01 00:00:00
3,13,M,2110-01-01 00:00:00
""",
    "ADMISSIONS": """row_id,subject_id,hadm_id,admission_type,diagnosis
1,11,101,EMERGENCY,"SEPSIS, SEVERE"
2,12,102,ELECTIVE,CABG
3,13,103,EMERGENCY,FALL
""",
    "ICUSTAYS": """row_id,subject_id,hadm_id,icustay_id,first_careunit,intime,outtime
1,11,101,1001,MICU,2150-01-01 00:00:00,2150-01-03 06:00:00
2,12,102,1002,CSRU,2150-01-01 12:00:00,2150-01-03 12:00:00
3,13,103,1003,SICU,2150-01-01 00:00:00,2150-01-01 09:00:00
""",
    "DIAGNOSES_ICD": """row_id,subject_id,hadm_id,seq_num,icd9_code
1,11,101,1,99592
2,12,102,1,5185
3,13,103,1,5184
""",
    "CHARTEVENTS": """row_id,icustay_id,itemid,charttime,value,valuenum,valueuom,error
1,1001,220045,2150-01-01 01:00:00,80,80,bpm,0
2,1001,220045,2150-01-01 01:30:00,90,90,bpm,0
3,1001,220045,2150-01-01 05:00:00,70,70,bpm,0
4,1001,220045,2150-01-01 06:00:00,200,200,bpm,1
5,1001,220045,2150-01-01 07:00:00,0,0,bpm,0
6,1001,220045,2150-01-02 00:00:00,140,140,bpm,0
7,1001,223761,2150-01-01 02:00:00,98.6,98.6,?F,0
8,1001,223835,2150-01-02 01:00:00,60,60,,0
9,1001,220339,2150-01-02 02:00:00,8,8,cmH2O,0
10,1001,220224,2150-01-02 03:30:00,120,120,mmHg,0
11,1001,220045,2149-12-31 23:00:00,55,55,bpm,0
12,1001,220045,2150-01-03 07:00:00,55,55,bpm,0
13,1002,211,2150-01-01 13:00:00,60,60,BPM,
14,1002,190,2150-01-01 14:00:00,.5,.5,torr,
15,1002,374,2150-01-01 14:00:00,"Arm, Right Lower",,,
16,1003,211,2150-01-01 01:00:00,60,60,BPM,
""",
    "LABEVENTS": """row_id,subject_id,hadm_id,itemid,charttime,value,valuenum,valueuom
1,11,,50813,2150-01-01 03:00:00,2.5,2.5,mmol/L
2,11,101,50813,2149-12-30 03:00:00,9,9,mmol/L
3,12,102,51003,2150-01-01 13:00:00,<0.01,,ng/mL
""",
    "OUTPUTEVENTS": """row_id,icustay_id,itemid,charttime,value,valueuom,iserror
1,1001,226559,2150-01-01 04:00:00,100,mL,
2,1001,226559,2150-01-01 08:00:00,250,mL,1
""",
}


def write_tables(folder, changed=None):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (TABLES | (changed or {})).items():
        if text is not None:
            (folder / f"{name}.csv").write_text(text)
    return folder


def tidy_tables(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


@pytest.fixture
def tidy(tmp_path):
    extract(write_tables(tmp_path / "raw"), tmp_path / "tidy")
    return tmp_path / "tidy"


def aggregates(tidy, table, stay, variable):
    rows = read_table(tidy / f"{table}.parquet").to_pylist()
    (row,) = [r for r in rows if r["stay_id"] == stay and r["variable"] == variable]
    return [row[name] for name in AGGREGATES]


# Hand-computed: rows flagged as an error, implausible, before or after the window are left out.
@pytest.mark.parametrize(
    ("table", "stay", "variable", "expected"),
    [
        ("first_day", 1001, "HR", [80, 70, 70, 90, 80]),
        ("whole_stay", 1001, "HR", [80, 140, 70, 140, 85]),
        ("first_day", 1001, "Temp", [37, 37, 37, 37, 37]),
        ("whole_stay", 1001, "FiO2", [0.6] * 5),
        ("first_day", 1002, "FiO2", [0.5] * 5),
        ("first_day", 1001, "Lactate", [2.5] * 5),
        ("first_day", 1001, "UrineOutput", [100] * 5),
    ],
)
def test_aggregates_by_hand(tidy, table, stay, variable, expected):
    assert aggregates(tidy, table, stay, variable) == pytest.approx(expected, abs=1e-12)


def test_hourly_values_are_medians_of_the_hour(tidy):
    rows = read_table(tidy / "hourly.parquet").to_pylist()
    heart = [
        (r["hour"], r["value"], r["n"])
        for r in rows
        if r["stay_id"] == 1001 and r["variable"] == "HR"
    ]
    assert heart == [(1, 85, 2), (5, 70, 1)]


def test_stays_carry_age_onset_and_code(tidy):
    one, two, three = read_table(tidy / "stays.parquet").to_pylist()
    assert one["onset_minute"] == 27 * 60 + 30
    assert (one["male"], one["elective"], one["ards_code"]) == (0, False, False)
    assert one["age"] == pytest.approx(50, abs=0.01)
    # Born 300 years ago means older than 89; 518.5 is an ARDS code and 518.4 is not.
    assert (two["age"], two["ards_code"], two["onset_minute"]) == (91.4, True, None)
    assert (three["candidate"], three["ards_code"], three["hours"]) == (False, False, 9)


# The full release has stays without discharge; other blanks are just as harmless.
def test_blank_fields_are_missing_values(tmp_path):
    changed = (
        swap("ICUSTAYS", "2150-01-03 06:00:00", "")
        | swap("PATIENTS", "M,1850-01-01 00:00:00", ",1850-01-01 00:00:00")
        | swap("ADMISSIONS", "ELECTIVE", "")
        | swap("DIAGNOSES_ICD", "2,12,102,1,5185", "2,12,,1,5185")
    )
    extract(write_tables(tmp_path / "raw", changed), tmp_path / "tidy")
    one, two, _ = read_table(tmp_path / "tidy" / "stays.parquet").to_pylist()
    assert (one["hours"], one["candidate"]) == (None, False)
    assert (two["male"], two["elective"], two["ards_code"]) == (None, None, False)
    features, flow = ards(tmp_path / "tidy")
    assert [step["rows"] for step in flow["flow"]] == [3, 3, 3, 1, 1, 1]
    named = dict(zip(features.names, features.X[0], strict=True))
    assert np.isnan([named["Male"], named["Elective"]]).all()
    assert named["CSRU"] == 1


# CHARTEVENTS is too long to look for repeated rows; they change nothing.
def test_repeated_event_rows_change_nothing(tmp_path, tidy):
    twice = {}
    for name in ("CHARTEVENTS", "LABEVENTS", "OUTPUTEVENTS"):
        header, _, rows = TABLES[name].partition("\n")
        twice[name] = f"{header}\n{rows}{rows}"
    extract(write_tables(tmp_path / "twice", twice), tmp_path / "tidy_twice")
    for name in ("stays", "hourly", "first_day", "whole_stay"):
        content = (tmp_path / "tidy_twice" / f"{name}.parquet").read_bytes()
        assert content == (tidy / f"{name}.parquet").read_bytes()


def test_implausible_values_are_counted(tidy):
    (row,) = [r for r in read_table(tidy / "quality.parquet").to_pylist() if r["variable"] == "HR"]
    assert (row["n_values"], row["n_implausible"]) == (6, 1)


def test_case_of_names_and_kind_of_file_do_not_matter(tmp_path, tidy):
    expected = tidy_tables(tidy)
    upper = write_tables(tmp_path / "upper")
    for path in upper.iterdir():
        header, _, rest = path.read_text().partition("\n")
        path.write_text(header.upper() + "\n" + rest)
        path.rename(path.with_name(path.name.lower()))
    zipped = tmp_path / "zipped"
    parquet = tmp_path / "parquet"
    zipped.mkdir()
    parquet.mkdir()
    for name, text in TABLES.items():
        (zipped / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        table = pa.csv.read_csv(pa.py_buffer(text.encode()))
        pq.write_table(table, parquet / f"{name}.parquet")
    for folder in (upper, zipped, parquet):
        extract(folder, tmp_path / f"tidy_{folder.name}")
        assert tidy_tables(tmp_path / f"tidy_{folder.name}") == expected, folder.name


# Stays are summarised in parts; how many there are leaves no trace in the result.
def test_number_of_parts_leaves_no_trace(tmp_path, tidy, monkeypatch):
    monkeypatch.setattr(scan, "PART_BYTES", 200)
    extract(tmp_path / "raw", tmp_path / "parts")
    assert tidy_tables(tmp_path / "parts") == tidy_tables(tidy)


def swap(name, old, new):
    assert old in TABLES[name]
    return {name: TABLES[name].replace(old, new)}


BAD = {
    "missing table": ({"LABEVENTS": None}, "no table LABEVENTS"),
    "empty file": ({"CHARTEVENTS": ""}, "CHARTEVENTS.csv: the file is empty"),
    "wrong header": (swap("CHARTEVENTS", "valuenum", "number"), "column 'valuenum' is missing"),
    "foreign delimiter": ({"PATIENTS": TABLES["PATIENTS"].replace(",", ";")}, "comma-separated"),
    "text in a number": (
        swap("CHARTEVENTS", "80,80,bpm", "80,high,bpm"),
        "CHARTEVENTS.csv: row_id 1: valuenum is not a double",
    ),
    "infinite number": (swap("CHARTEVENTS", "80,80,bpm", "80,inf,bpm"), "row_id 1: valuenum"),
    "malformed time": (
        swap("CHARTEVENTS", "2150-01-01 01:30:00", "01/13/2150"),
        "CHARTEVENTS.csv: row_id 2: charttime is not a timestamp",
    ),
    "malformed admission": (
        swap("ICUSTAYS", "2150-01-03 06:00:00", "yesterday"),
        "ICUSTAYS.csv: icustay_id 1001: outtime is not a timestamp",
    ),
    "unknown unit": (
        swap("LABEVENTS", "2.5,mmol/L", "2.5,mg/dL"),
        "LABEVENTS.csv: row_id 1: item 50813 in unknown unit mg/dL",
    ),
    "duplicated stay": (swap("ICUSTAYS", ",1002,", ",1001,"), "1001 occurs twice as icustay_id"),
    "duplicated patient": (swap("PATIENTS", "2,12,", "2,11,"), "11 occurs twice as subject_id"),
    "patient without id": (swap("PATIENTS", "2,12,", "2,,"), "a row has no subject_id"),
    "stay without admission": (swap("ADMISSIONS", ",102,", ",999,"), "icustay_id 1002 has no row"),
    "short line": (swap("OUTPUTEVENTS", ",100,mL,", ",100"), "OUTPUTEVENTS.csv"),
    "no stay": ({"ICUSTAYS": TABLES["ICUSTAYS"].split("\n")[0] + "\n"}, "holds no ICU stay"),
    "other release": (
        {"CHARTEVENTS": TABLES["CHARTEVENTS"].split("\n")[0] + "\n"}
        | {"LABEVENTS": TABLES["LABEVENTS"].split("\n")[0] + "\n"}
        | {"OUTPUTEVENTS": TABLES["OUTPUTEVENTS"].split("\n")[0] + "\n"},
        "no mapped measurement",
    ),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_clear_line(tmp_path, changed, message):
    with pytest.raises(DataError, match=message) as caught:
        extract(write_tables(tmp_path / "raw", changed), tmp_path / "tidy")
    assert "\n" not in str(caught.value)
    assert not list((tmp_path).glob("tidy/*"))


# A row of credentialed data must not reach a log through an error message.
@pytest.mark.parametrize(
    "changed",
    [
        swap("CHARTEVENTS", "80,80,bpm,0", "SECRET,SECRET,bpm,0"),
        swap("CHARTEVENTS", "90,90,bpm,0", "SECRET,90"),
        swap("LABEVENTS", "2150-01-01 03:00:00,2.5", "SECRET,2.5"),
        swap("ICUSTAYS", "2150-01-03 06:00:00", "SECRET"),
    ],
)
def test_errors_do_not_quote_values(tmp_path, changed):
    with pytest.raises(DataError) as caught:
        extract(write_tables(tmp_path / "raw", changed), tmp_path / "tidy")
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_truncated_gzip_is_an_error(tmp_path, kept):
    folder = write_tables(tmp_path / "raw", {"CHARTEVENTS": None})
    rows = "".join(f"{i},1001,220045,2150-01-01 01:00:00,80,80,bpm,0\n" for i in range(3000))
    whole = gzip.compress((TABLES["CHARTEVENTS"].split("\n")[0] + "\n" + rows).encode())
    (folder / "CHARTEVENTS.csv.gz").write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(DataError, match=r"CHARTEVENTS\.csv\.gz"):
        extract(folder, tmp_path / "tidy")


def test_two_files_of_one_table_are_an_error(tmp_path):
    folder = write_tables(tmp_path / "raw")
    (folder / "chartevents.csv.gz").write_bytes(gzip.compress(b"row_id\n"))
    with pytest.raises(DataError, match="is there twice"):
        extract(folder, tmp_path / "tidy")


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        extract(tmp_path / "nowhere", tmp_path / "tidy")


# Whatever the bytes of a table, the only error is the project's own.
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(sorted(TABLES)),
    place=st.floats(0, 1),
    junk=st.binary(max_size=12)
    | st.sampled_from([b'"', b"\n\n", b",,,", b"\xff\xfe", b"NaN", b"1e999"]),
    cut=st.integers(0, 30),
)
def test_fuzzed_tables_raise_only_data_errors(tmp_path_factory, name, place, junk, cut):
    folder = tmp_path_factory.mktemp("fuzz")
    write_tables(folder / "raw")
    path = folder / "raw" / f"{name}.csv"
    content = path.read_bytes()
    at = int(place * len(content))
    path.write_bytes(content[:at] + junk + content[at + cut :])
    try:
        extract(folder / "raw", folder / "tidy")
    except DataError as error:
        assert "\n" not in str(error)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as open_connection:
        yield open_connection


measured = st.lists(
    st.tuples(st.integers(0, 60 * 60 - 1), st.integers(0, 9)), min_size=1, max_size=12,
    unique_by=lambda pair: pair[0],
)  # fmt: skip


def load(connection, rows, hours):
    """Put one stay with rows of (variable, minute, value) into the database."""
    connection.execute("CREATE OR REPLACE TABLE stays (stay_id INTEGER, hours DOUBLE)")
    connection.execute("INSERT INTO stays VALUES (1, ?)", [hours])
    connection.execute(
        "CREATE OR REPLACE TABLE measured "
        "(stay_id INTEGER, variable SMALLINT, minute INTEGER, value DOUBLE)"
    )
    connection.executemany("INSERT INTO measured VALUES (1, ?, ?, ?)", rows)


def filled_series(values, end_hour):
    """Fill the hourly medians backwards inside 24 h and forwards to the end, hour by hour."""
    grid = [None] * end_hour
    for hour in range(end_hour):
        inside = [value for minute, value in values if minute // 60 == hour]
        grid[hour] = float(np.median(inside)) if inside else None
    seen = [hour for hour in range(end_hour) if grid[hour] is not None]
    if seen and seen[0] < 24:
        grid[: seen[0]] = [grid[seen[0]]] * seen[0]
    for hour in range(1, end_hour):
        grid[hour] = grid[hour - 1] if grid[hour] is None else grid[hour]
    return [value for value in grid if value is not None]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(values=measured, whole_stay=st.booleans(), hours=st.sampled_from([24.0, 30.5, 60.0]))
def test_summary_agrees_with_a_plain_reference(connection, values, whole_stay, hours):
    load(connection, [(0, minute, value) for minute, value in values], hours)
    got = window_aggregates.summary(connection, whole_stay=whole_stay).to_pylist()
    end = hours if whole_stay else 24
    kept = sorted((minute, value) for minute, value in values if minute < 60 * end)
    if not kept:
        assert got == []
        return
    plain = [value for _, value in kept]
    expected = [plain[0], plain[-1], min(plain), max(plain), np.median(plain)]
    assert [got[0][name] for name in AGGREGATES] == expected
    assert got[0]["filled_median"] == np.median(filled_series(kept, int(np.ceil(end))))


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    gases=st.lists(st.tuples(st.integers(0, 1500), st.sampled_from([60, 90, 150, 200])), max_size=5,
                   unique_by=lambda pair: pair[0]),
    oxygen=st.lists(st.tuples(st.integers(0, 1500), st.sampled_from([0.3, 0.5, 1.0])), max_size=5,
                    unique_by=lambda pair: pair[0]),
    pressure=st.lists(st.tuples(st.integers(0, 1500), st.sampled_from([0, 4, 5, 10])), max_size=5,
                      unique_by=lambda pair: pair[0]),
)  # fmt: skip
def test_onset_agrees_with_a_plain_reference(connection, gases, oxygen, pressure):
    index = {name: number for number, name in enumerate(items.variable_names())}
    series = {"PaO2": gases, "FiO2": oxygen, "PEEP": pressure}
    rows = [(index[name], *pair) for name, pairs in series.items() for pair in pairs]
    rows.append((index["HR"], 0, 80))
    load(connection, rows, 30)
    found = []
    for minute, value in gases:
        fio2 = max((pair for pair in oxygen if pair[0] <= minute), default=None)
        peep = max((pair for pair in pressure if pair[0] <= minute), default=None)
        recent = fio2 and peep and minute - min(fio2[0], peep[0]) <= 480
        if recent and value / fio2[1] <= 300 and peep[1] >= 5:
            found.append(minute)
    got = window_aggregates.onsets(connection).to_pylist()
    assert [row["onset_minute"] for row in got] == ([min(found)] if found else [])


def test_item_map_has_97_variables_of_known_units():
    assert len(items.variable_names()) == 97
    assert {item.table for item in items.item_map()} == set(items.TABLES)
    assert all(item.lowest < item.highest for item in items.item_map())


HEADER = "variable,unit,lowest,highest,table,itemid,label,accepted_units,conversion\n"
LINE = "HR,bpm,1,300,chartevents,211,Heart Rate,bpm,none\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + LINE + LINE, "line 3: item 211 occurs twice"),
        (HEADER + LINE.replace("none", "celsius"), "line 2: unknown"),
        (HEADER + LINE.replace("300", "many"), "line 2: .*item map"),
        (HEADER + LINE + LINE.replace("211", "212").replace("300", "250"), "line 3: HR has two"),
    ],
)
def test_faulty_item_map_is_refused(text, message):
    with pytest.raises(DataError, match=message):
        items.parse(text)


@pytest.fixture(scope="module")
def demo_archive():
    return MIRROR / "mimic3_demo" / "mimic-iii-clinical-database-demo-1.4.tar.xz"


@pytest.mark.real
def test_open_demo_is_extracted_whole_and_the_same_twice(demo_archive, tmp_path):
    extract(demo_archive, tmp_path / "one")
    extract(demo_archive, tmp_path / "two", threads=2)
    assert tidy_tables(tmp_path / "one") == tidy_tables(tmp_path / "two")
    stays = read_table(tmp_path / "one" / "stays.parquet")
    assert stays.num_rows == 136
    assert sum(stays["candidate"].to_pylist()) == 81
    quality = read_table(tmp_path / "one" / "quality.parquet").to_pylist()
    assert all(row["n_values"] > 0 for row in quality)
    assert sum(row["n_implausible"] for row in quality) < 0.01 * sum(
        row["n_values"] for row in quality
    )


# The labels of the item map are those of the real dictionaries, so no id can be a slip.
@pytest.mark.real
def test_item_labels_are_those_of_the_demo(demo_archive):
    from deepcac_study.raw.archive import members

    dictionaries = {"D_ITEMS.csv": {}, "D_LABITEMS.csv": {}}
    for name, content in members(demo_archive):
        if (short := name.rpartition("/")[2]) in dictionaries:
            rows = csv.DictReader(content.decode("utf-8", "replace").splitlines())
            dictionaries[short] = {int(row["itemid"]): row for row in rows}
    for item in items.item_map():
        lab = item.table == "labevents"
        entry = dictionaries["D_LABITEMS.csv" if lab else "D_ITEMS.csv"][item.itemid]
        assert " ".join(entry["label"].split()) == item.label
        assert lab or entry["linksto"] == item.table


def test_damaged_archive_is_an_error(tmp_path):
    (tmp_path / "demo.archive").write_bytes(b"\x1f\x8b" + zlib.compress(b"nothing"))
    with pytest.raises(DataError, match=r"demo\.archive"):
        extract(tmp_path / "demo.archive", tmp_path / "tidy")


def first_day_by_pandas(folder, stays):
    """Return the plausible values of the first 24 hours, one a stay, variable and minute."""
    admitted = pd.read_csv(folder / "ICUSTAYS.csv", parse_dates=["intime", "outtime"])
    admitted = admitted[admitted["icustay_id"].isin(stays)]
    admitted = admitted[["subject_id", "icustay_id", "intime", "outtime"]]
    events = []
    for name, key, number, flag in (
        ("chartevents", "icustay_id", "valuenum", "error"),
        ("labevents", "subject_id", "valuenum", None),
        ("outputevents", "icustay_id", "value", "iserror"),
    ):
        raw = pd.read_csv(folder / f"{name.upper()}.csv", low_memory=False)
        chosen = raw[raw[flag] != 1] if flag else raw
        chosen = chosen[[key, "itemid", "charttime", number]].dropna()
        chosen.columns = [key, "itemid", "at", "raw"]
        wanted = pd.DataFrame([vars(item) for item in items.item_map() if item.table == name])
        events.append(chosen.merge(wanted, on="itemid").merge(admitted, on=key))
    table = pd.concat(events)
    x, how, at = table["raw"].astype(float), table["conversion"], pd.to_datetime(table["at"])
    x = x.where(how != "fahrenheit", (x - 32) / 1.8).where(how != "inch", x * 2.54)
    x = x.where(how != "pound", x * 0.45359237).where((how != "percent") | (x <= 1), x / 100)
    table = table.assign(value=x, minute=(at - table["intime"]).dt.total_seconds() // 60)
    inside = (at < table["outtime"]) & table["minute"].between(0, 24 * 60 - 1)
    kept = table[inside & x.between(table["lowest"], table["highest"])]
    return kept.groupby(["icustay_id", "variable", "minute"])["value"].median().reset_index()


# The same aggregates by pandas from the raw tables, for all 97 variables.
@pytest.mark.real
@pytest.mark.slow
def test_demo_agrees_with_a_plain_pandas_reference(demo_archive, tmp_path):
    extract(demo_archive, tmp_path / "tidy")
    stays = read_table(tmp_path / "tidy" / "stays.parquet").to_pandas().query("candidate")
    (tmp_path / "raw").mkdir()
    values = first_day_by_pandas(tables.unpack(demo_archive, tmp_path / "raw"), stays["stay_id"])
    by_variable = values.groupby(["icustay_id", "variable"])["value"]
    expected = by_variable.agg(["first", "last", "min", "max", "median"]).sort_index()
    got = read_table(tmp_path / "tidy" / "first_day.parquet").to_pandas()
    got = got.astype({"variable": str}).set_index(["stay_id", "variable"]).sort_index()
    assert list(got.index) == list(expected.index)
    assert len(got) > 4000
    np.testing.assert_allclose(got[list(AGGREGATES)], expected, rtol=1e-12)
