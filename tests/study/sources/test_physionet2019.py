import io
import tarfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mirrors import MIRROR
from sepsis_files import HEADER, NAMES, archive, stay, text

from deepcac.errors import DataError
from deepcac_study.raw.archive import members
from deepcac_study.simulate.hourly_stays import NOTICE, SUBTYPES, simulate
from deepcac_study.sources import physionet2019
from deepcac_study.sources.physionet2019 import extract, read_archives

FIRST_ROWS = (
    "NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|"
    "NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|83.14|0|NaN|NaN|-0.03|1|0\n"
    "97|95|NaN|98|75.33|NaN|19|NaN|24|NaN|0.28|7.36|100|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|"
    "NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|NaN|83.14|0|NaN|NaN|-0.03|2|1\n"
)


def read(folder: Path, files: dict[str, str | bytes], hospital: str = "A") -> pd.DataFrame:
    path = archive(folder / f"training_set{hospital}.archive", files)
    return read_archives({hospital: path}).to_pandas()


def test_a_file_in_the_real_format_is_read_cell_by_cell(tmp_path):
    table = read(tmp_path, {"training_setA/p000007.psv": f"{HEADER}\n{FIRST_ROWS}"})
    assert table["patient_id"].tolist() == [7, 7]
    assert table["hour"].tolist() == [0, 1]
    assert table["hospital"].tolist() == ["A", "A"]
    assert list(table.columns[3:]) == NAMES
    assert table["HR"].isna().tolist() == [True, False]
    second = table.iloc[1]
    assert (second["HR"], second["MAP"], second["FiO2"], second["HospAdmTime"]) == (
        *(97, 75.33, 0.28),
        -0.03,
    )
    assert table["ICULOS"].tolist() == [1, 2]
    assert table["SepsisLabel"].tolist() == [0, 1]


def test_many_files_agree_with_pandas_read_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(physionet2019, "_BATCH_BYTES", 20_000)
    path = tmp_path / "a.archive"
    simulate(path, "B", n=25, seed=3)
    ours = read_archives({"B": path}).to_pandas()
    files = {name: data for name, data in members(path) if name.endswith(".psv")}
    expected = pd.concat([pd.read_csv(io.BytesIO(data), sep="|") for data in files.values()])
    np.testing.assert_array_equal(
        ours[NAMES].to_numpy(float), expected[NAMES].to_numpy(float), strict=True
    )


def test_patients_are_ordered_whatever_the_order_and_kind_of_archive(tmp_path):
    files = {f"p{i:06d}.psv": text(stay(3 + i, HR=70.0 + i)) for i in (5, 2, 9)}
    zipped = archive(tmp_path / "zip.archive", files)
    with tarfile.open(tmp_path / "tar.archive", "w:xz") as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"training/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content.encode()))
    a = read_archives({"A": zipped})
    assert a["patient_id"].to_pandas().unique().tolist() == [2, 5, 9]
    assert a.equals(read_archives({"A": tmp_path / "tar.archive"}))


def test_the_tidy_file_has_the_same_bytes_each_time(tmp_path):
    path = archive(tmp_path / "a.archive", {"p000001.psv": text(stay(9, HR=80.0))})
    for name in ("one", "two"):
        extract({"A": path}, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert pq.read_table(tmp_path / "one").num_rows == 9


def test_a_patient_with_one_row_is_kept(tmp_path):
    assert read(tmp_path, {"p000001.psv": text(stay(1))})["hour"].tolist() == [0]


def test_line_ends_of_windows_are_read(tmp_path):
    content = text(stay(4, HR=[70, 71, 72, 73])).replace("\n", "\r\n")
    assert read(tmp_path, {"p000001.psv": content})["HR"].tolist() == [70, 71, 72, 73]


GOOD = text(stay(12, HR=80.0))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("", "empty file", id="empty file"),
        pytest.param("\n\n", "empty file", id="blank file"),
        pytest.param(HEADER + "\n", "no rows", id="header only"),
        pytest.param(HEADER, "header", id="the header"),
        pytest.param(GOOD[:-30], "truncated", id="a row"),
        pytest.param(GOOD[:-30] + "\n", "columns", id="row cut short"),
        pytest.param(GOOD.replace("|", ","), "header", id="foreign delimiter"),
        pytest.param(GOOD.replace("80|NaN", "80,NaN", 1), "mend", id="mixed delimiter"),
        pytest.param(GOOD.replace("HR|O2Sat", "O2Sat|HR"), "header", id="columns swapped"),
        pytest.param(GOOD.replace("80|NaN", "80|normal", 1), "normal", id="text in numbers"),
        pytest.param(GOOD.replace("80|NaN", "80|nan", 1), "O2Sat is no number", id="other nan"),
        pytest.param(GOOD.replace("80|NaN", "80|-nan", 1), "O2Sat", id="negative nan"),
        pytest.param(GOOD.replace("80|NaN", "80|", 1), "mend or remove", id="empty cell"),
        pytest.param(GOOD.replace("80|NaN", "80|inf", 1), "O2Sat is infinite", id="infinite"),
        pytest.param(GOOD.replace("80|NaN", "1e999|NaN", 1), "HR", id="beyond floating point"),
        pytest.param(GOOD.replace("|12|0\n", "|11|0\n"), "ICULOS", id="hour repeated"),
        pytest.param(GOOD.replace("|1|0\n", "|NaN|0\n", 1), "row 1: ICULOS", id="no first hour"),
        pytest.param(text(stay(1)).replace("|1|0", "|NaN|0"), "ICULOS is missing", id="no hour"),
        pytest.param(GOOD + GOOD.splitlines()[-1] + "\n", "ICULOS", id="row doubled"),
        pytest.param(GOOD.replace("|5|0\n", "|5|2\n"), "neither 0 nor 1", id="label 2"),
        pytest.param(GOOD.replace("|5|0\n", "|5|NaN\n"), "neither 0 nor 1", id="no label"),
        pytest.param(GOOD.replace("|5|0\n", "|5|1\n"), "from 1 to 0", id="label turns off"),
        pytest.param(GOOD.replace("\n", "\n\n"), "mend or remove", id="blank lines"),
        pytest.param(GOOD.replace("80|NaN", '"80|NaN', 1), "mend or remove", id="quote"),
        pytest.param(b"\x00" * 64, "header", id="zeros"),
        pytest.param(GOOD.encode("utf-16"), "header", id="utf-16"),
    ],
)
def test_bad_files_are_one_line_errors_that_name_them(tmp_path, content, message):
    assert content != GOOD
    files = {"p000001.psv": GOOD, "set/p000002.psv": content, "p000003.psv": GOOD}
    with pytest.raises(DataError, match=message) as error:
        read(tmp_path, files)
    assert "p000002.psv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_fault_names_its_row(tmp_path):
    with pytest.raises(DataError, match=r"p000002\.psv: row 5: SepsisLabel is neither"):
        read(tmp_path, {"p000001.psv": GOOD, "p000002.psv": GOOD.replace("|5|0\n", "|5|3\n")})


@pytest.mark.parametrize("name", ["p1.psv", "patient.psv", "p0000011.psv", "q000001.psv"])
def test_a_foreign_file_name_is_refused(tmp_path, name):
    with pytest.raises(DataError, match="a name like"):
        read(tmp_path, {name: GOOD})


def test_a_patient_in_two_files_is_refused(tmp_path):
    twice = {"a/p000001.psv": GOOD, "b/p000001.psv": GOOD}
    with pytest.raises(DataError, match="p000001 .*two files"):
        read(tmp_path, twice)
    a = archive(tmp_path / "a", {"p000001.psv": GOOD, "p000002.psv": GOOD})
    b = archive(tmp_path / "b", {"p000001.psv": text(stay(1))})
    with pytest.raises(DataError, match="p000001 .*two files"):
        read_archives({"A": a, "B": b})


def test_an_archive_without_patients_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"no \.psv file; expected training set A"):
        read(tmp_path, {"readme.txt": "nothing here"})


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    cut=st.tuples(st.integers(0, len(GOOD)), st.integers(0, 40)),
    noise=st.binary(max_size=12) | st.sampled_from([b"|", b"\n", b"\r", b"NaN", b'"', b"-", b"e9"]),
)
def test_damaged_files_are_read_or_refused_but_never_crash(tmp_path, cut, noise):
    at, length = cut
    damaged = GOOD.encode()[:at] + noise + GOOD.encode()[at + length :]
    with suppress(DataError):
        table = read(tmp_path, {"p000001.psv": damaged})
        assert 1 <= len(table) <= 13
        assert set(table["SepsisLabel"]) <= {0, 1}
        assert not np.isinf(table[NAMES].to_numpy(float)).any()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda t: f"{HEADER}\n{t}"))
def test_foreign_content_is_read_or_refused_but_never_crashes(tmp_path, content):
    with suppress(DataError):
        assert len(read(tmp_path, {"p000001.psv": content})) > 0


def test_simulated_archives_are_labelled_and_repeatable(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        simulate(tmp_path / name, "A", n=40, seed=seed)
    contents = {name: (tmp_path / name).read_bytes() for name in "abc"}
    assert contents["a"] == contents["b"] != contents["c"]
    files = dict(members(tmp_path / "a"))
    assert files["training_setA/SYNTHETIC.txt"].decode() == NOTICE
    table = read_archives({"A": tmp_path / "a"}).to_pandas()
    assert table["patient_id"].nunique() == 40
    assert table.groupby("patient_id").size().between(8, 72).all()


def test_the_risk_of_simulated_sepsis_depends_on_the_planted_subtype(tmp_path):
    simulate(tmp_path / "a", "A", n=600)
    files = dict(members(tmp_path / "a"))
    planted = pd.read_csv(io.BytesIO(files["training_setA/subtypes.csv"]), index_col="patient")
    stays = read_archives({"A": tmp_path / "a"}).to_pandas().groupby("patient_id")
    planted["septic"] = stays["SepsisLabel"].max().to_numpy()
    share = planted.groupby("subtype")["septic"].mean()
    assert share["renal"] < share["hepatic"] < share["pulmonary"]
    # The sign of a subtype separates its own patients, and says nothing about the others.
    for subtype in SUBTYPES:
        level = stays[subtype.sign].mean().to_numpy() * np.sign(subtype.slope)
        own = (planted["subtype"] == subtype.name).to_numpy()
        septic = planted["septic"].to_numpy() == 1
        gap = np.nanmean(level[own & septic]) - np.nanmean(level[own & ~septic])
        other = np.nanmean(level[~own & septic]) - np.nanmean(level[~own & ~septic])
        assert gap > 4 * abs(other)


@pytest.mark.real
@pytest.mark.slow
def test_the_real_archives_hold_40336_patients_and_1552210_hours():
    folder = MIRROR / "physionet2019"
    table = read_archives({part: folder / f"training_set{part}.tar.xz" for part in "AB"})
    patient_id = table["patient_id"].to_numpy()
    assert (len(np.unique(patient_id)), table.num_rows) == (40_336, 1_552_210)
    septic = np.unique(patient_id[table["SepsisLabel"].to_numpy() == 1])
    assert len(septic) == 2_932
