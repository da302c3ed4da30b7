import csv

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import read_table
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.features.wid import wid_mortality
from deepcac_study.simulate.intensive_care_table import simulate
from deepcac_study.sources.wids import extract


def write(path, rows):
    """Write encounters given as {column: text}; what is not given is NA."""
    names = [column.name for column in read_variables("wids")]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="NA", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def encounter(number, **known):
    return {"encounter_id": number, "patient_id": 100, "hospital_death": 0} | known


def features(folder, rows):
    extract(write(folder / "training_v2.csv", rows), folder / "tidy.parquet")
    return wid_mortality(folder / "tidy.parquet")


def test_columns_are_the_186_of_the_file():
    names = [column.name for column in read_variables("wids")]
    assert len(names) == len(set(names)) == 186
    # pandas reads 8 integer, 170 float and 8 text columns (published summaries of the file).
    kinds = [column.kind for column in read_variables("wids")]
    assert (kinds.count("category"), len(kinds) - kinds.count("category")) == (8, 178)
    assert names[:4] == ["encounter_id", "patient_id", "hospital_id", "hospital_death"]
    assert names[-2:] == ["apache_3j_bodysystem", "apache_2_bodysystem"]


def test_encoding_by_hand(tmp_path):
    got, flow = features(
        tmp_path,
        [
            encounter(7, age=61, gender="F", icu_type="MICU", apache_4a_icu_death_prob=-1),
            encounter(3, age="", hospital_death=1, gender="NA", pre_icu_los_days=-0.5),
            encounter(9, hospital_death="NA"),
        ],
    )
    assert [step["rows"] for step in flow] == [3, 2]
    assert got.X.shape == (2, 241)
    np.testing.assert_array_equal(got.row_id, [7, 3])
    np.testing.assert_array_equal(got.label, [0, 1])
    value = dict(zip(got.names, got.X.T, strict=True))
    np.testing.assert_array_equal(value["age"], [61, np.nan])
    np.testing.assert_array_equal(value["gender=F"], [1, 0])
    np.testing.assert_array_equal(value["gender=missing"], [0, 1])
    np.testing.assert_array_equal(value["icu_type=MICU"], [1, 0])
    np.testing.assert_array_equal(value["pre_icu_los_days"], [np.nan, -0.5])
    # -1 says that APACHE IVa was not computed.
    assert np.isnan(value["apache_4a_icu_death_prob"]).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([encounter(1), encounter(1)], "row 2, encounter_id: value occurs twice"),
        ([encounter("NA")], "row 1, encounter_id: value is missing"),
        ([encounter(1), encounter(2, age="old")], "row 2, age: "),
        ([encounter(1, age="1e999")], "row 1, age: "),
        ([encounter(1.5)], "row 1, encounter_id: "),
        ([encounter(1, hospital_death=2)], "row 1, hospital_death: value is outside 0.0 to 1.0"),
        ([encounter(1, icu_type="ICU")], "row 1, icu_type: "),
        ([], "holds no rows"),
    ],
)
def test_bad_rows_are_one_clear_line(tmp_path, rows, message):
    with pytest.raises(DataError, match=message) as caught:
        features(tmp_path, rows)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "tidy.parquet").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "not 186 comma-separated columns"),
        (
            lambda text: text.replace("d1_heartrate_max", "d1_pulse_max"),
            "'d1_heartrate_max' is missing",
        ),
        (lambda text: text.replace("bmi,", "age,"), "'age' occurs twice"),
        (lambda text: text.replace(",", ";"), "'encounter_id' is missing"),
        (lambda text: text[:-300], "not 186 comma-separated columns"),
    ],
    ids=["empty", "wrong header", "column twice", "foreign delimiter", "truncated"],
)
def test_bad_files_are_one_clear_line(tmp_path, change, message):
    path = write(tmp_path / "training_v2.csv", [encounter(1), encounter(2)])
    path.write_text(change(path.read_text()))
    with pytest.raises(DataError, match=message) as caught:
        extract(path, tmp_path / "tidy.parquet")
    assert "\n" not in str(caught.value)


# A row of restricted data must not reach a log through an error message.
def test_errors_do_not_quote_rows(tmp_path):
    path = write(tmp_path / "training_v2.csv", [encounter(1, age=47), encounter(2)])
    path.write_text(path.read_text() + "424242,SECRET\n")
    with pytest.raises(DataError, match="Expected 186 columns, got 2") as caught:
        extract(path, tmp_path / "tidy.parquet")
    assert "SECRET" not in str(caught.value)
    assert "424242" not in str(caught.value)


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        extract(tmp_path / "nowhere.csv", tmp_path / "tidy.parquet")


def test_file_without_outcomes_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"not unlabeled\.csv"):
        features(tmp_path, [encounter(1, hospital_death="NA")])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    place=st.floats(0, 1),
    junk=st.binary(max_size=8) | st.sampled_from([b'"', b"\n", b",,", b"\xff\xfe", b"nan", b"\0"]),
    cut=st.integers(0, 20),
)
def test_fuzzed_files_raise_only_data_errors(tmp_path_factory, place, junk, cut):
    folder = tmp_path_factory.mktemp("fuzz")
    path = write(folder / "training_v2.csv", [encounter(1, age=50), encounter(2, gender="M")])
    content = path.read_bytes()
    at = int(place * len(content))
    path.write_bytes(content[:at] + junk + content[at + cut :])
    try:
        extract(path, folder / "tidy.parquet")
        wid_mortality(folder / "tidy.parquet")
    except DataError as error:
        assert "\n" not in str(error)


def test_generator_writes_the_real_format(tmp_path):
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        simulate(tmp_path / f"{name}.csv", n=300, seed=seed)
    one, two, other = ((tmp_path / f"{n}.csv").read_bytes() for n in ("one", "two", "other"))
    assert one == two != other
    extract(tmp_path / "one.csv", tmp_path / "tidy.parquet")
    got, _ = wid_mortality(tmp_path / "tidy.parquet")
    assert got.X.shape == (300, 241)
    assert 0.1 < got.label.mean() < 0.5
    lowest, highest = (got.names.index(f"d1_heartrate_{end}") for end in ("min", "max"))
    assert not (got.X[:, lowest] > got.X[:, highest]).any()
    with pytest.raises(ConfigError, match="at least one"):
        simulate(tmp_path / "none.csv", n=0)


# In the septic subtype the risk follows lactate, in the cardiac one (inversely) blood pressure.
def test_planted_subtypes_have_their_own_risk(tmp_path):
    simulate(tmp_path / "raw.csv", n=1500, seed=0)
    extract(tmp_path / "raw.csv", tmp_path / "tidy.parquet")
    got, _ = wid_mortality(tmp_path / "tidy.parquet")
    system = np.array(
        read_table(tmp_path / "tidy.parquet")["apache_3j_bodysystem"].to_pylist(), dtype=object
    )
    for name, measure, sign in (
        ("Sepsis", "d1_lactate_max", 1),
        ("Cardiovascular", "d1_sysbp_min", -1),
    ):
        rows = system == name
        x, y = got.X[rows, got.names.index(measure)], got.label[rows]
        assert sign * (np.nanmean(x[y == 1]) - np.nanmean(x[y == 0])) > 0.5 * np.nanstd(x)
