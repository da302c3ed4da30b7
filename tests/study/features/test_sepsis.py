import csv
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mirrors import MIRROR
from sepsis_files import NAMES, stay, tidy

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.catalogue.protocol import SOUND, Protocol, published_labels
from deepcac_study.cohort import write_cohort
from deepcac_study.features.columns.hourly import AGGREGATES, aggregate, fill_backward, fill_forward
from deepcac_study.features.columns.signature import signature
from deepcac_study.features.columns.sofa import MEASUREMENTS, sofa_parts
from deepcac_study.features.columns.stay_columns import Stays, plausible_ranges
from deepcac_study.features.sepsis import AGGREGATED, sepsis, sepsis_ts
from deepcac_study.features.sepsis_signature import (
    look_back,
    match_hours,
    records,
    sepsis_signature,
)
from deepcac_study.simulate.hourly_stays import SUBTYPES, draw_stay
from deepcac_study.sources.physionet2019 import DEMOGRAPHICS, VARIABLES, extract

PUBLISHED = Protocol(published_labels())
MEASURED = [NAMES.index(name) for name in VARIABLES]


def only(label: str) -> Protocol:
    return Protocol(frozenset({label}))


def random_stays(n: int, seed: int) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(seed)
    subtypes = [SUBTYPES[k] for k in rng.integers(len(SUBTYPES), size=n)]
    return {1 + i: draw_stay(rng, subtype) for i, subtype in enumerate(subtypes)}


def column(features, name: str) -> list[float]:
    return features.X[:, features.names.index(name)].tolist()


# Kernels


def test_fills_stay_inside_their_stay():
    nan = np.nan
    values = np.array([nan, 1, nan, 2, nan, nan, nan, 3, nan, nan])
    starts = np.array([0, 4, 10])
    np.testing.assert_array_equal(
        fill_forward(values, starts), [nan, 1, 1, 2, nan, nan, nan, 3, 3, 3]
    )
    np.testing.assert_array_equal(
        fill_backward(values, starts, 4), [1, 1, 2, 2, 3, 3, 3, 3, nan, nan]
    )
    np.testing.assert_array_equal(
        fill_backward(values, starts, 2), [1, 1, nan, 2, nan, nan, nan, 3, nan, nan]
    )


def test_aggregates_by_hand():
    values = np.array([np.nan, 5, 1, np.nan, 4, 9, np.nan])
    found = aggregate(values, np.array([0, 5, 6]), np.array([5, 7, 7]))
    assert AGGREGATES == ("first", "last", "lowest", "highest", "median")
    np.testing.assert_array_equal(found, [[5, 4, 1, 5, 4], [9] * 5, [np.nan] * 5])


# SOFA


def test_sofa_parts_at_every_bound():
    table = {
        "SaO2": [98, 98, 70, 50, 30, 98, np.nan],
        "FiO2": [0.21, 0.4, 0.4, 0.4, 0.5, np.nan, 0.4],
        "MAP": [70, 69.9, 100, 20, np.nan, 70, 70],
        "Bilirubin_total": [1.1, 1.2, 1.9, 2.0, 6.0, 12.0, np.nan],
        "Creatinine": [1.1, 1.2, 1.9, 2.0, 3.5, 5.0, np.nan],
        "Platelets": [150, 149, 99, 49, 19, 20, np.nan],
    }
    measured = {name: np.array(values, float) for name, values in table.items()}
    nan = np.nan
    expected = [
        [0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1],
        [2, 0, 1, 1, 2],
        [3, 1, 2, 2, 3],
        [4, nan, 3, 3, 4],
        [nan, 0, 4, 4, 3],
        [nan, 0, nan, nan, nan],
    ]
    np.testing.assert_array_equal(sofa_parts(measured), expected)


def test_scores_of_the_program_differ_as_switch_s5_says():
    measured = {name: np.array([np.nan, 1.9]) for name in MEASUREMENTS}
    measured["FiO2"] = np.array([np.nan, 0.0])
    measured["Creatinine"] = np.array([3.4, 4.9])
    found = sofa_parts(measured, as_program=True)
    np.testing.assert_array_equal(found, [[4, np.nan, 4, 3, 4], [0, 1, 2, 4, 4]])


# Cohort


COHORT = {
    1: stay(24),  # long enough, no sepsis
    2: stay(23),  # too short
    3: stay(1),  # a patient with one row
    4: stay(40, label_from=0),  # label from the start: onset at hour 6 or before
    5: stay(27, label_from=17),  # onset at hour 23: in the first 24 hours
    6: stay(28, label_from=18),  # onset at hour 24: after them, the label already on
    7: stay(34, label_from=24),  # onset at hour 30
    100_001: stay(60, HR=90.0),  # hospital B
}


def test_the_cohort_is_counted_step_by_step(tmp_path):
    path = tidy(tmp_path, COHORT)
    features, details = sepsis(path)
    assert features.row_id.tolist() == [1, 6, 7, 100_001]
    assert features.label.tolist() == [0, 1, 1, 0]
    assert features.group.tolist() == ["A", "A", "A", "B"]
    assert [step["rows"] for step in details["flow"]] == [8, 6, 4]
    hourly, same = sepsis_ts(path)
    assert hourly.row_id.tolist() == features.row_id.tolist()
    assert same == details


def test_with_s4_the_label_counts_as_the_onset(tmp_path):
    features, details = sepsis(tidy(tmp_path, COHORT), only("S4"))
    assert features.row_id.tolist() == [1, 7, 100_001]
    assert [step["rows"] for step in details["flow"]] == [8, 6, 3]


def test_an_empty_cohort_is_an_error(tmp_path):
    path = tidy(tmp_path, {1: stay(3), 2: stay(5)})
    for build in (sepsis, sepsis_ts, sepsis_signature):
        with pytest.raises(DataError, match="no stay"):
            build(path)


def test_the_flow_is_written_with_the_classes(tmp_path):
    features, details = sepsis(tidy(tmp_path, COHORT))
    write_cohort(tmp_path / "cohort.json", details["flow"], unit="ICU stay", label=features.label)
    written = read_json(tmp_path / "cohort.json")
    written.pop("digest")
    assert written == {"unit": "ICU stay", "flow": details["flow"], "classes": {"0": 2, "1": 2}}


# Static features


def test_sound_features_of_one_stay_by_hand(tmp_path):
    heart = np.full(30, np.nan)
    heart[[2, 5, 23, 24]] = 80, 100, 60, 250
    lactate = np.full(30, np.nan)
    lactate[26] = 9
    features, _ = sepsis(tidy(tmp_path, {1: stay(30, HR=heart, Lactate=lactate, FiO2=-50.0)}))
    assert features.X.shape == (1, 177)
    row = dict(zip(features.names, features.X[0], strict=True))
    # Carried forward: 80 at hours 2-4, 100 at 5-22, 60 at 23.
    expected = {"first": 80, "last": 60, "lowest": 60, "highest": 100, "median": 100}
    assert {a: row[f"HR_{a}"] for a in AGGREGATES} == expected
    assert all(np.isnan(row[f"Lactate_{a}"]) for a in AGGREGATES)
    assert {row[f"FiO2_{a}"] for a in AGGREGATES} == {0.21}
    assert (row["Age"], row["ICULOS"], row["HospAdmTime"]) == (60, 24, -2.5)
    assert "HR" not in row  # equal to HR_last


def test_each_switch_changes_what_it_names_and_nothing_else(tmp_path):
    heart = np.full(30, np.nan)
    heart[[2, 5, 25]] = 80, 100, 250
    values = {"HR": heart, "FiO2": 4000.0, "SaO2": 98.0, "Bilirubin_total": 1.9}
    path = tidy(tmp_path, {1: stay(30, **values)})
    sound, _ = sepsis(path)
    changed = {}
    for label in ("S1", "S2", "S5", "S6"):
        features, _ = sepsis(path, only(label))
        before = dict(zip(sound.names, sound.X[0], strict=True))
        after = dict(zip(features.names, features.X[0], strict=True))
        changed[label] = {
            name: after[name]
            for name in before
            if not np.array_equal(before[name], after[name], equal_nan=True)
        }
        assert len(features.names) == (210 if label == "S1" else 177)
    assert changed["S1"] == {"HR_last": 250, "HR_highest": 250}
    assert changed["S2"] == {}  # 80 for 5 hours, 100 for 19: the median stays
    assert changed["S5"] == {"SOFA_Bilirubin": 2, "SOFA_Creatinine": 4, "SOFA_Platelets": 4}
    assert changed["S6"] == {
        **{f"FiO2_{a}": 4000 for a in AGGREGATES},
        "SOFA_O2": 4,
    }


def test_back_fill_moves_the_median(tmp_path):
    heart = np.full(24, np.nan)
    heart[20:] = 80, 90, 90, 90
    path = tidy(tmp_path, {1: stay(24, HR=heart)})
    assert column(sepsis(path)[0], "HR_median") == [90]
    assert column(sepsis(path, only("S2"))[0], "HR_median") == [80]


def as_the_program(rows: np.ndarray) -> dict[str, float]:
    """Read one stay as the published program does, with pandas."""
    frame = pd.DataFrame(rows, columns=NAMES).ffill()
    frame.iloc[:24] = frame.iloc[:24].bfill()
    row = {name: frame[name].iloc[23] for name in (*VARIABLES, *DEMOGRAPHICS)}
    for name in AGGREGATED:
        values = frame[name]
        row[f"{name}_first"], row[f"{name}_last"] = values.iloc[0], values.iloc[-1]
        row[f"{name}_lowest"], row[f"{name}_highest"] = values.min(), values.max()
        row[f"{name}_median"] = values.median()
    return row


def test_as_published_agrees_with_a_plain_reading_of_the_program(tmp_path):
    stays = random_stays(40, seed=5)
    features, _ = sepsis(tidy(tmp_path, stays), PUBLISHED)
    assert features.X.shape[1] == 210 == 40 + 5 + 33 * 5
    assert len(features.row_id) > 20
    for patient, values in zip(features.row_id, features.X, strict=True):
        found = dict(zip(features.names, values, strict=True))
        for name, value in as_the_program(stays[patient]).items():
            np.testing.assert_equal(found[name], value, err_msg=name)


def test_sound_agrees_with_a_plain_reading_of_the_first_day(tmp_path):
    stays = random_stays(40, seed=8)
    features, _ = sepsis(tidy(tmp_path, stays))
    for patient, values in zip(features.row_id, features.X, strict=True):
        found = dict(zip(features.names, values, strict=True))
        day = pd.DataFrame(stays[patient][:24], columns=NAMES).ffill()
        np.testing.assert_equal(found["BaseExcess"], day["BaseExcess"].iloc[-1])
        for name in AGGREGATED:
            entry = plausible_ranges()[name]
            known = day[name].clip(entry.low, entry.high).dropna()
            expected = [np.nan] * 5
            if len(known):
                ends = [known.iloc[0], known.iloc[-1]]
                expected = [*ends, known.min(), known.max(), known.median()]
            np.testing.assert_equal([found[f"{name}_{a}"] for a in AGGREGATES], expected)


# Hourly features


def test_hourly_features_are_the_measurements(tmp_path):
    stays = random_stays(30, seed=6)
    features, _ = sepsis_ts(tidy(tmp_path, stays))
    assert features.n_steps == 24
    cube = features.sequences()
    assert cube.shape[1:] == (24, 40)
    ranges = plausible_ranges()
    order = (*VARIABLES, *DEMOGRAPHICS)
    low = np.array([ranges[name].low for name in order])
    high = np.array([ranges[name].high for name in order])
    for patient, values in zip(features.row_id, cube, strict=True):
        raw = stays[patient][:24, [NAMES.index(name) for name in order]]
        np.testing.assert_array_equal(values, np.clip(raw, low, high))


# Signature features


def test_records_are_the_first_label_and_the_sixth_from_the_end(tmp_path):
    stays = {
        1: stay(12, HR=np.arange(12) + 60.0, label_from=9),
        2: stay(12, HR=np.arange(12) + 60.0),
        3: stay(6, HR=np.arange(6) + 60.0),
        4: stay(5, HR=60.0),  # no sixth record from the end
        5: stay(4, HR=60.0, label_from=0),
    }
    features, flow = sepsis_signature(tidy(tmp_path, stays), "numba", only("S7"))
    assert features.row_id.tolist() == [1, 2, 3, 5]
    assert column(features, "HR") == [69, 66, 60, 60]
    assert column(features, "HR_lowest_6h") == [64, 61, 60, 60]
    assert column(features, "ICULOS") == [10, 7, 1, 1]
    assert features.label.tolist() == [1, 0, 0, 1]
    assert [step["rows"] for step in flow] == [5, 4]
    assert len(features.names) == 89


def test_derived_channels_by_hand(tmp_path):
    rows = stay(7, HR=90.0, SBP=120.0, BUN=30.0, SaO2=96.0, FiO2=0.4, MAP=60.0)
    rows[:, NAMES.index("Creatinine")] = [1.0, 2.0, *[np.nan] * 5]
    rows[:, NAMES.index("Platelets")] = [90.0, *[np.nan] * 6]
    features, _ = sepsis_signature(tidy(tmp_path, {1: rows}), "numba", only("S7"))
    row = dict(zip(features.names, features.X[0], strict=True))
    assert row["ShockIndex"] == 0.75
    assert row["BUN_Cr"] == 15
    assert row["SaO2_FiO2"] == pytest.approx(240)
    assert row["SOFA"] == 1 + 2 + 2  # pressure, creatinine 2.0, platelets 90
    assert row["SOFA_rise"] == 2
    assert (row["SOFA_leadlag_1"], row["SOFA_time_1"], row["SOFA_time_2"]) == (2, 1, 2)
    # Lead-lag area: half of the squared step, 15 ** 2 / 2 for BUN/Cr from 30 to 15.
    assert row["BUN_Cr_leadlag_12"] == pytest.approx(112.5)


def test_windows_before_the_first_value_stand_still():
    nan = np.nan
    values = np.array([nan, nan, 3.0, 4.0, nan, nan, 7.0])
    begin, at = np.array([0, 4, 4]), np.array([3, 5, 6])
    path, time, known = look_back(values, begin, at)
    assert path[0, :, 0].tolist() == [3, 3, 3, 3, 3, 3, 4]
    assert time[0].tolist() == [-1] * 6 + [0]
    assert known.tolist() == [True, False, True]
    assert path[2, :, 0].tolist() == [7] * 7
    short = signature(values[None, 2:4, None], 3, "numba")
    np.testing.assert_allclose(signature(path[:1], 3, "numba"), short)


def test_a_channel_without_values_has_missing_signatures(tmp_path):
    path = tidy(tmp_path, {1: stay(9), 2: stay(9, MAP=70.0)})
    features, _ = sepsis_signature(path, "numba", only("S7"))
    missing = np.isnan(features.X[:, features.names.index("MAP_time_12")])
    assert missing.tolist() == [True, False]
    assert not np.isnan(column(features, "SOFA_time_12")).any()


def test_backends_build_the_same_features(tmp_path):
    pytest.importorskip("iisignature")
    path = tidy(tmp_path, random_stays(20, seed=7))
    a, b = (sepsis_signature(path, backend)[0].X for backend in ("iisignature", "numba"))
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


# Leaks


def disturbed(rows: np.ndarray, begin: int, seed: int) -> np.ndarray:
    """Return a stay with every value from hour `begin` on replaced, labels and hours kept."""
    rng = np.random.default_rng(seed)
    rows = rows.copy()
    later = rows[begin:, MEASURED]
    rows[begin:, MEASURED] = np.where(
        rng.random(later.shape) < 0.3, np.nan, rng.uniform(0, 500, later.shape)
    )
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_no_sound_feature_sees_the_time_after_hour_24(tmp_path, seed):
    stays = random_stays(40, seed)
    later = {patient: disturbed(rows, 24, seed) for patient, rows in stays.items()}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    a, b = tidy(tmp_path / "a", stays), tidy(tmp_path / "b", later)
    for build in (sepsis, sepsis_ts):
        np.testing.assert_array_equal(build(a)[0].X, build(b)[0].X)
        np.testing.assert_array_equal(build(a)[0].label, build(b)[0].label)
    # The same disturbance is seen where a protocol does look ahead.
    assert not np.array_equal(
        sepsis(a, only("S1"))[0].X, sepsis(b, only("S1"))[0].X, equal_nan=True
    )


@pytest.mark.parametrize("build", [sepsis, sepsis_ts])
def test_no_sound_feature_depends_on_later_labels_or_the_length_of_stay(tmp_path, build):
    septic = stay(40, HR=90.0, label_from=30)
    healthy = septic[:24].copy()
    features, _ = build(tidy(tmp_path, {1: septic, 2: healthy}))
    assert features.label.tolist() == [1, 0]
    np.testing.assert_array_equal(features.X[0], features.X[1])


@pytest.mark.parametrize("protocol", [SOUND, only("S7")], ids=["sound", "S7"])
@pytest.mark.parametrize("seed", range(3))
def test_no_signature_feature_sees_the_time_after_its_record(tmp_path, seed, protocol):
    stays = random_stays(40, seed)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = tidy(tmp_path / "a", stays)
    at = hours_of_records(path, protocol)
    later = {p: disturbed(stays[p], hour + 1, seed) for p, hour in at.items()}
    rest = {p: rows for p, rows in stays.items() if p not in at}
    a, _ = sepsis_signature(path, "numba", protocol)
    b, _ = sepsis_signature(tidy(tmp_path / "b", rest | later), "numba", protocol)
    assert np.array_equal(a.row_id, b.row_id)
    np.testing.assert_array_equal(a.X, b.X)
    # The record itself is seen.
    now = {p: disturbed(stays[p], hour, seed) for p, hour in at.items()}
    c, _ = sepsis_signature(tidy(tmp_path / "b", rest | now), "numba", protocol)
    assert not np.array_equal(a.X, c.X, equal_nan=True)


def hours_of_records(path, protocol=SOUND) -> dict[int, int]:
    stays = Stays.read(path)
    chosen, at, _ = records(stays, protocol)
    return dict(zip(stays.patient_id[chosen], at - stays.starts[chosen], strict=True))


def test_controls_have_records_at_the_hours_of_the_septic_stays(tmp_path):
    septic = {1: stay(20, label_from=5), 2: stay(30, label_from=12), 3: stay(90, label_from=60)}
    healthy = {4: stay(11), 5: stay(12), 6: stay(18), 7: stay(19), 8: stay(40), 9: stay(40)}
    found = hours_of_records(tidy(tmp_path, septic | healthy))
    assert {p: found[p] for p in (1, 2)} == {1: 5, 2: 12}
    assert 3 not in found  # begins after the first two days
    controls = {p: hour for p, hour in found.items() if p > 3}
    # Hour 12 needs 18 rows: stays 6 to 9 have them. Hour 5 needs 11: all have. So three a case.
    assert sorted(controls.values()) == [5, 5, 5, 12, 12, 12]
    assert all(len(healthy[p]) >= hour + 6 for p, hour in controls.items())


@settings(max_examples=60, deadline=None)
@given(
    cases=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    last=st.lists(st.integers(-3, 12), min_size=1, max_size=40),
)
def test_every_case_of_every_hour_has_as_many_controls(cases, last):
    cases, last = np.array(cases), np.array(last)
    given = match_hours(cases, last)
    taken = given >= 0
    assert (given[taken] <= last[taken]).all()
    counts = {int(h): int((given == h).sum()) for h in np.unique(cases)}
    a_case = {counts[h] / (cases == h).sum() for h in counts}
    assert len(a_case) == 1
    assert sum(counts.values()) == taken.sum()
    # One more a case cannot be had: some late hours would lack stays observed so long.
    more = next(iter(a_case)) + 1
    assert any((last >= h).sum() < more * (cases >= h).sum() for h in counts)


# Units and ranges


def test_every_variable_has_a_unit_a_range_and_its_source():
    ranges = plausible_ranges()
    assert tuple(ranges) == (*VARIABLES, *DEMOGRAPHICS)
    for entry in ranges.values():
        assert entry.unit
        assert entry.source
        assert entry.low < entry.high
    text = (resources.files("deepcac_study") / "features" / "physionet2019_ranges.csv").read_text()
    assert {len(row) for row in csv.reader(text.splitlines())} == {5}


def test_sound_values_lie_in_their_ranges(tmp_path):
    wild = {name: np.tile([-1e4, 1e5, np.nan], 10) for name in VARIABLES}
    path = tidy(tmp_path, {1: stay(30, **wild)})
    features, _ = sepsis(path)
    for name in AGGREGATED:
        entry = plausible_ranges()[name]
        assert column(features, f"{name}_lowest") == [entry.low]
        assert column(features, f"{name}_highest") == [entry.high]
    assert Stays.read(path, clipped=False).column("HR")[0] == -1e4


@pytest.mark.real
@pytest.mark.slow
def test_cohorts_of_the_real_files(tmp_path):
    folder = MIRROR / "physionet2019"
    path = tmp_path / "hourly.parquet"
    extract({part: folder / f"training_set{part}.tar.xz" for part in "AB"}, path)
    features, details = sepsis(path)
    assert [step["rows"] for step in details["flow"]] == [40_336, 30_661, 30_540]
    assert (features.X.shape, features.label.sum()) == ((30_540, 177), 1_723)
    published, details = sepsis(path, PUBLISHED)
    assert [step["rows"] for step in details["flow"]] == [40_336, 30_661, 30_380]
    assert (published.X.shape, published.label.sum()) == ((30_380, 210), 1_563)
    record, _ = sepsis_signature(path, "numba", only("S7"))
    assert (record.X.shape, record.label.sum()) == ((40_336, 89), 2_932)
    record, _ = sepsis_signature(path, "numba")
    assert (record.X.shape, record.label.sum()) == ((37_540, 88), 1_877)
    # The clock says nothing: every hour has the same share of cases.
    hours = hours_of_records(path)
    clock = np.array([hours[patient] for patient in record.row_id])
    assert {record.label[clock == hour].mean() for hour in np.unique(clock)} == {1 / 20}
