"""UCI diabetes: a hand-written file to encounters and features, and every fault of the raw file."""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mirrors import MIRROR

from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import read_table
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.features.diabetes import (
    DIAGNOSIS,
    all_columns,
    cohort,
    diabetes,
    icd9_group,
    nine_columns,
)
from deepcac_study.simulate.encounters import simulate, subtypes
from deepcac_study.sources.uci_diabetes import extract, medications, read_encounters, variables

U2 = Protocol(frozenset({"U2"}))
HEADER = tuple(variables())
PLAIN = {
    **{name: "1" for name, v in variables().items() if v.kind in ("id", "integer")},
    **dict.fromkeys(medications(), "No"),
    **{"race": "Caucasian", "gender": "Female", "age": "[70-80)", "weight": "?"},
    **{"payer_code": "?", "medical_specialty": "?", "diag_1": "428", "diag_2": "?"},
    **{"diag_3": "?", "max_glu_serum": "None", "A1Cresult": "None", "change": "No"},
    **{"diabetesMed": "No", "readmitted": "NO"},
}


def text(*rows: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, HEADER, lineterminator="\r\n")
    writer.writeheader()
    for i, row in enumerate(rows):
        writer.writerow({**PLAIN, "encounter_id": str(100 - i), "patient_nbr": str(i), **row})
    return out.getvalue().encode()


def encounters(*rows: dict[str, str]) -> pd.DataFrame:
    return read_encounters(text(*rows)).to_pandas()


def pack(path: Path, content: bytes, name: str = "dataset_diabetes/diabetic_data.csv") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dataset_diabetes/IDs_mapping.csv", "admission_type_id,description\n")
        archive.writestr(name, content)
    return path


def test_extract_keeps_order_and_marks_what_is_missing(tmp_path):
    archive = pack(
        tmp_path / "a.archive", text({"race": "?"}, {"A1Cresult": ">8", "diag_1": "V57"})
    )
    extract(archive, tmp_path / "tidy.parquet")
    table = read_table(tmp_path / "tidy.parquet")
    assert table.column_names == ["row", *HEADER]
    assert table["row"].to_pylist() == [1, 2]
    assert table["encounter_id"].to_pylist() == [100, 99]
    assert table["race"].to_pylist() == [None, "Caucasian"]
    assert table["A1Cresult"].to_pylist() == ["None", ">8"]
    assert table["diag_1"].to_pylist() == ["428", "V57"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not 50 comma-separated columns (Empty CSV file)"),
        (text(), "holds no rows"),
        (text({}).replace(b",", b";"), "column 'encounter_id' is missing; 50 comma-separated"),
        (text({}).replace(b",", b"\t"), "column 'encounter_id' is missing; 50 comma-separated"),
        (text({}).replace(b",race,", b",Race,"), "'race' is missing"),
        (text({}).replace(b",race,", b",age,"), "'race' is missing"),
        (text({}).replace(b",weight,", b",age,", 1), "'age' occurs twice"),
        (text({}).replace(b",readmitted", b""), "got 50"),
        (b"<html>Log in</html>\n<p>", "column 'encounter_id' is missing"),
        (text({}, {})[:-80], "not 50 comma-separated columns (CSV parse error: Row #3"),
        (text({}, {})[:-3], "row 2, readmitted: 'N' "),
        (text({}, {"num_procedures": "two"}), "row 2, num_procedures: 'two' "),
        (text({}, {"num_procedures": "1.5"}), "'1.5' "),
        (text({}, {"patient_nbr": "-7"}), "row 2, patient_nbr: '-7' is outside 0.0 to inf"),
        (text({}, {"time_in_hospital": "?"}), "row 2, time_in_hospital: value is missing"),
        (text({}, {"insulin": "?"}), "row 2, insulin: value is missing"),
        (text({"age": "74"}), "row 1, age: '74' "),
        (text({}, {}, {"encounter_id": "99"}), "row 3, encounter_id: '99' occurs twice"),
        (text({"race": "Cauc\xe4sian"}).decode().encode("latin-1"), "invalid UTF8"),
    ],
)
def test_bad_files_are_one_line_that_names_the_place(tmp_path, content, message):
    archive = pack(tmp_path / "a.archive", content)
    with pytest.raises(DataError) as caught:
        extract(archive, tmp_path / "tidy.parquet")
    assert message in str(caught.value)
    assert f"{archive}: diabetic_data.csv: " in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["a.archive"]


def test_an_archive_without_the_table(tmp_path):
    archive = pack(tmp_path / "a.archive", b"", name="other.csv")
    with pytest.raises(DataError, match=r"no member diabetic_data\.csv"):
        extract(archive, tmp_path / "tidy.parquet")


def test_cohort_takes_first_rows_then_leaves_out_deaths_and_hospice():
    table = encounters(
        {"patient_nbr": "7", "discharge_disposition_id": "11"},
        {"patient_nbr": "7"},  # not the first row of patient 7, whose first ended in death
        {"patient_nbr": "8", "readmitted": ">30"},
        {"patient_nbr": "8", "discharge_disposition_id": "13"},
        {"patient_nbr": "9", "discharge_disposition_id": "21"},
        {"patient_nbr": "5", "readmitted": "<30"},
    )
    rows, steps = cohort(table)
    assert rows["row"].tolist() == [3, 6]
    assert [step["rows"] for step in steps] == [6, 4, 2]
    with pytest.raises(DataError, match="no encounter"):
        cohort(table.iloc[:1])


def test_published_codes_by_hand():
    rows = encounters(
        {"readmitted": "<30"},
        {
            **{"race": "AfricanAmerican", "gender": "Male", "age": "[20-30)", "diag_1": "250.83"},
            **{"discharge_disposition_id": "6", "admission_source_id": "7", "A1Cresult": "Norm"},
            **{"time_in_hospital": "14", "medical_specialty": "Cardiology", "readmitted": ">30"},
        },
        {
            **{"race": "Asian", "gender": "Unknown/Invalid", "age": "[30-40)", "diag_1": "V57"},
            **{"medical_specialty": "Surgery-Neuro", "A1Cresult": ">7"},
        },
        {
            **{"race": "?", "age": "[50-60)", "diag_1": "?", "A1Cresult": ">8", "change": "Ch"},
            "medical_specialty": "Family/GeneralPractice",
        },
        {"race": "Hispanic", "medical_specialty": "Surgeon", "A1Cresult": "Norm", "change": "Ch"},
        {
            "race": "Other",
            "medical_specialty": "InternalMedicine",
            "A1Cresult": ">7",
            "change": "Ch",
        },
        {"medical_specialty": "Cardiology-Pediatric", "age": "[0-10)"},
    )
    features = nine_columns(rows, U2)
    assert features.X.astype(int).tolist() == [
        [0, 1, 2, 1, 1, 1, 4, 0, 0],
        [1, 0, 0, 6, 7, 14, 0, 1, 1],
        [3, 2, 1, 1, 1, 1, 3, 8, 2],
        [4, 1, 1, 1, 1, 1, 1, 8, 3],
        [3, 1, 2, 1, 1, 1, 3, 0, 1],
        [3, 1, 2, 1, 1, 1, 2, 0, 3],
        [0, 1, 0, 1, 1, 1, 5, 0, 0],
    ]
    assert features.label.tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert features.row_id.tolist() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("code", "group"),
    [
        *[("390", "circulatory"), ("459.9", "circulatory"), ("785", "circulatory")],
        *[("389", "other"), ("460", "respiratory"), ("519", "respiratory"), ("786", "respiratory")],
        *[("250", "diabetes"), ("250.99", "diabetes"), ("251", "other"), ("249", "other")],
        *[("520", "digestive"), ("579", "digestive"), ("787", "digestive")],
        *[("580", "genitourinary"), ("629", "genitourinary"), ("788", "genitourinary")],
        *[("800", "injury"), ("999", "injury"), ("799", "other"), ("789", "other")],
        *[("709", "other"), ("710", "musculoskeletal"), ("739", "musculoskeletal")],
        *[("139", "other"), ("140", "neoplasms"), ("239", "neoplasms"), ("240", "other")],
        *[("V57", "other"), ("E909", "other"), (None, "other")],
    ],
)
def test_icd9_groups_at_their_borders(code, group):
    assert icd9_group(pd.Series([code], dtype="str")).tolist() == [DIAGNOSIS[group]]


VALUES = {
    "race": st.sampled_from(["Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other", "?"]),
    "gender": st.sampled_from(["Male", "Female", "Unknown/Invalid"]),
    "age": st.sampled_from([f"[{low}-{low + 10})" for low in range(0, 100, 10)]),
    "discharge_disposition_id": st.sampled_from(["1", "6", "18", "28"]),
    "admission_source_id": st.sampled_from(["1", "7", "17", "26"]),
    "time_in_hospital": st.integers(1, 14).map(str),
    "medical_specialty": st.sampled_from(["?", "Cardiology", "Surgery-General", "Urology"]),
    "diag_1": st.sampled_from(["?", "428", "250.1", "486", "540", "V57", "E878", "174"]),
    "A1Cresult": st.sampled_from(["None", "Norm", ">7", ">8"]),
    "change": st.sampled_from(["No", "Ch"]),
}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=20))
def test_one_hot_columns_hold_exactly_the_codes(rows):
    """Sound features are the published codes, one column a value: nothing lost or added."""
    table = encounters(*rows)
    codes, hot = nine_columns(table, U2), nine_columns(table)
    for j, name in enumerate(codes.names):
        if name == "time_in_hospital":
            assert np.array_equal(hot.X[:, hot.names.index(name)], codes.X[:, j])
            continue
        mine = [i for i, column in enumerate(hot.names) if column.startswith(f"{name}=")]
        assert (hot.X[:, mine].sum(axis=1) == 1).all()
        chosen = hot.X[:, mine].argmax(axis=1)
        for value in np.unique(codes.X[:, j]):
            assert len(np.unique(chosen[codes.X[:, j] == value])) == 1
        assert len(np.unique(chosen)) == len(np.unique(codes.X[:, j]))


def test_columns_are_the_same_whatever_values_occur():
    one, two = encounters({}), encounters({"race": "Asian", "diag_1": "540"}, {"insulin": "Up"})
    assert nine_columns(one).names == nine_columns(two).names
    assert all_columns(one).names == all_columns(two).names


def test_all_columns_by_hand():
    features = all_columns(
        encounters(
            {
                **{
                    "age": "[40-50)",
                    "insulin": "Down",
                    "metformin": "Steady",
                    "number_inpatient": "3",
                },
                **{"diag_2": "486", "medical_specialty": "Urology", "change": "Ch"},
            }
        )
    )
    row = dict(zip(features.names, features.X[0], strict=True))
    assert (row["age"], row["number_inpatient"], row["change"]) == (45, 3, 1)
    assert (row["insulin"], row["insulin dose"]) == (1, -1)
    assert (row["metformin"], row["metformin dose"], row["glyburide"]) == (1, 0, 0)
    assert (row["diag_2=respiratory"], row["diag_2=missing"], row["diag_3=missing"]) == (1, 0, 1)
    assert (row["medical_specialty=other"], row["payer_code=missing"]) == (1, 1)
    left_out = {"encounter_id", "patient_nbr", "readmitted", "weight", "examide", "citoglipton"}
    assert not {name.partition("=")[0] for name in features.names} & left_out


def test_later_encounters_change_nothing():
    first = {"patient_nbr": "7", "readmitted": "<30"}
    later = {"patient_nbr": "7", "number_inpatient": "9", "insulin": "Up", "diag_1": "250"}
    alone, _ = cohort(encounters(first))
    with_later, _ = cohort(encounters(first, later))
    assert np.array_equal(all_columns(alone).X, all_columns(with_later).X)
    assert np.array_equal(nine_columns(alone).X, nine_columns(with_later).X)


def test_an_id_outside_the_list_is_an_error():
    table = encounters({}, {"admission_source_id": "16"})
    with pytest.raises(DataError, match="encounter 99: admission_source_id 16 is not in IDs_map"):
        nine_columns(table)


def test_both_data_sets_have_the_rows_of_the_flow(tmp_path):
    tidy = tmp_path / "tidy.parquet"
    simulate(tmp_path / "a.archive", n=60)
    extract(tmp_path / "a.archive", tidy)
    coded, _ = diabetes("nine", tidy, U2)
    nine, flow = diabetes("nine", tidy)
    full, _ = diabetes("all", tidy)
    assert (coded.X.shape[1], nine.X.shape[1]) == (9, 79)
    assert np.array_equal(full.row_id, nine.row_id)
    assert np.array_equal(full.label, nine.label)
    assert flow[1]["rows"] == 60
    assert flow[2]["rows"] == len(nine.row_id)
    with pytest.raises(ConfigError, match="'some'"):
        diabetes("some", tidy)


def test_synthetic_file_is_marked_and_the_same_each_time(tmp_path):
    simulate(tmp_path / "a", n=300, seed=3)
    simulate(tmp_path / "b", n=300, seed=3)
    simulate(tmp_path / "c", n=300, seed=4)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.namelist() == [
            "dataset_diabetes/diabetic_data.csv",
            "dataset_diabetes/SYNTHETIC_SUBTYPES.csv",
        ]
        content = archive.read("dataset_diabetes/diabetic_data.csv")
        truth = pd.read_csv(archive.open("dataset_diabetes/SYNTHETIC_SUBTYPES.csv"))
    table = read_encounters(content).to_pandas()
    assert set(truth["synthetic_subtype"]) == set(subtypes())
    assert truth["encounter_id"].tolist() == table["encounter_id"].tolist()
    assert table["encounter_id"].min() > 500_000_000  # above every real id
    assert table["patient_nbr"].nunique() == 300
    first = table.drop_duplicates("patient_nbr")
    lowest = table.groupby("patient_nbr")["encounter_id"].min()
    assert first["encounter_id"].tolist() == lowest[first["patient_nbr"]].tolist()
    with pytest.raises(ConfigError, match="0 synthetic patients"):
        simulate(tmp_path / "d", n=0)


def test_planted_effects_are_opposed(tmp_path):
    """Long stays are readmitted more often in one subtype, and less often in another."""
    simulate(tmp_path / "a", n=4000)
    with zipfile.ZipFile(tmp_path / "a") as archive:
        table = read_encounters(archive.read("dataset_diabetes/diabetic_data.csv")).to_pandas()
        truth = pd.read_csv(archive.open("dataset_diabetes/SYNTHETIC_SUBTYPES.csv"))
    again = table["readmitted"] != "NO"
    days = table["time_in_hospital"]
    rise = {
        kind: np.corrcoef(days[mine], again[mine])[0, 1]
        for kind in subtypes()
        for mine in [truth["synthetic_subtype"] == kind]
    }
    assert rise["cardiac"] > 0.3
    assert rise["insulin"] < -0.3
    assert abs(rise["surgical"]) < 0.1


@pytest.mark.real
def test_the_real_file_gives_the_published_rows(tmp_path):
    from deepcac_study.catalogue.registry import load_registry
    from deepcac_study.raw.fetch import fetch

    registry = load_registry(Path(__file__).parents[3] / "config" / "registry")
    file = registry.file("uci_diabetes", "dataset_diabetes.archive")
    fetch(file, tmp_path / file.name, mirrors=[str(MIRROR)])
    extract(tmp_path / file.name, tmp_path / "tidy.parquet")
    table = read_table(tmp_path / "tidy.parquet").to_pandas()
    rows, steps = cohort(table)
    assert [step["rows"] for step in steps] == [101_766, 71_518, 69_973]
    features = nine_columns(rows, U2)
    assert features.X.shape == (69_973, 9)
    assert features.label.sum() == 28_499
    assert features.X[:3].astype(int).tolist() == [
        [0, 1, 0, 25, 1, 1, 5, 1, 0],
        [0, 1, 0, 1, 7, 3, 4, 8, 0],
        [1, 1, 0, 1, 7, 2, 4, 8, 0],
    ]
    assert nine_columns(rows).X.shape == (69_973, 79)
    first = table.groupby("patient_nbr")["encounter_id"].min()
    assert np.array_equal(first[rows["patient_nbr"]], rows["encounter_id"])
