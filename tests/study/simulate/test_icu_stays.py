"""Synthetic raw files in the format of PhysioNet Challenge 2012."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from deepcac.files.storage import read_table
from deepcac_study.features.cic import cic_features
from deepcac_study.raw.archive import members
from deepcac_study.simulate.icu_stays import FIRST_RECORD, OPPOSED, SUBTYPES, simulate, slips, spoil
from deepcac_study.sources.physionet2012 import extract
from deepcac_study.sources.physionet2012_events import PARAMETERS


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    simulate(folder, n=900, seed=5)
    return folder


@pytest.fixture(scope="module")
def tidy(raw: Path) -> tuple[pa.Table, pa.Table]:
    extract(
        {letter: raw / f"set-{letter}.archive" for letter in "abc"},
        {letter: raw / f"Outcomes-{letter}.txt" for letter in "abc"},
        events_path=raw / "events.parquet",
        outcomes_path=raw / "outcomes.parquet",
    )
    return read_table(raw / "events.parquet"), read_table(raw / "outcomes.parquet")


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        simulate(tmp_path / name, n=12, seed=seed)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == [
        *(f"Outcomes-{letter}.txt" for letter in "abc"),
        "SYNTHETIC.txt",
        *(f"set-{letter}.archive" for letter in "abc"),
        "subtypes.csv",
    ]
    for file in files:
        one = (tmp_path / "one" / file).read_bytes()
        assert one == (tmp_path / "again" / file).read_bytes()
        assert one != (tmp_path / "other" / file).read_bytes()


def test_raw_files_say_that_they_are_synthetic(raw: Path) -> None:
    assert "synthetic" in (raw / "SYNTHETIC.txt").read_text()
    names = [name for name, _ in members(raw / "set-b.archive")]
    assert names == [f"set-b/{FIRST_RECORD + 300 + i}.txt" for i in range(300)]


def test_every_parameter_occurs_and_some_names_are_lost(tidy: tuple[pa.Table, pa.Table]) -> None:
    events, outcomes = tidy
    seen = set(events["parameter"].unique().to_pylist())
    assert seen == {*PARAMETERS, None}
    assert outcomes.num_rows == 900
    assert 0.1 < np.mean(outcomes["In-hospital_death"].to_numpy()) < 0.25


def test_slips_are_repaired_to_plausible_values(tidy: tuple[pa.Table, pa.Table]) -> None:
    features, cohort = cic_features("death", *tidy)
    counts: dict[str, int] = {}
    for repair in cohort["repairs"]:
        counts[repair["variable"]] = counts.get(repair["variable"], 0) + repair["count"]
    assert {name for name, _, _ in slips()} - {n for n, k in counts.items() if k} == {"Albumin"}
    column = dict(zip(features.names, features.X.T, strict=True))
    for name, low, high in (("Height", 130, 210), ("pH_first", 6.8, 7.8), ("Temp_last", 30, 43)):
        assert low < np.nanmin(column[name])
        assert np.nanmax(column[name]) < high
    assert 0.2 < np.isnan(column["Height"]).mean() < 0.7


def test_spoiling_keeps_times_and_number_of_events() -> None:
    events = [(minute, "Albumin", 3.0) for minute in range(2000)]
    spoiled = spoil(events, np.random.default_rng(0))
    assert [minute for minute, _, _ in spoiled] == list(range(2000))
    assert {value for _, _, value in spoiled} == {3.0}
    assert 0 < sum(name == "" for _, name, _ in spoiled) < 200


def test_signals_act_in_opposite_directions_in_different_subtypes(
    raw: Path, tidy: tuple[pa.Table, pa.Table]
) -> None:
    features, _ = cic_features("death", *tidy)
    with open(raw / "subtypes.csv", newline="") as file:
        planted = np.array([row["subtype"] for row in csv.DictReader(file)])
    column = dict(zip(features.names, features.X.T, strict=True))
    for name, effects in OPPOSED.items():
        for subtype, effect in zip(SUBTYPES, effects, strict=True):
            value, death = column[f"{name}_median"], features.label == 1
            here = (planted == subtype) & ~np.isnan(value)
            gap = value[here & death].mean() - value[here & ~death].mean()
            spread = value[here].std()
            if effect:
                assert np.sign(gap) == np.sign(effect)
                assert abs(gap) > 0.4 * spread
