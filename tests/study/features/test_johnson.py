"""The Johnson features and the data sets cic and cic_los."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from catalogued import REGISTRY
from hypothesis import given, settings
from hypothesis import strategies as st
from mirrors import MIRROR

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import read_features
from deepcac.files.storage import read_table, write_table
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.features.cic import cic_features, stay_class
from deepcac_study.features.columns.hourly import AGGREGATES
from deepcac_study.features.columns.johnson_cleaning import ADMISSION, MEASURED, clean
from deepcac_study.features.johnson import johnson_features, parameter_table, summarise
from deepcac_study.jobs.steps import build_features
from deepcac_study.sources.physionet2012 import OUTCOMES, extract
from deepcac_study.sources.physionet2012_events import PARAMETERS

Event = tuple[int, int, str | None, float]

C9 = Protocol(frozenset({"C9"}))
L1 = Protocol(frozenset({"L1"}))
L2 = Protocol(frozenset({"L2"}))

# sha256 over the published table of set a (recordid and 119 columns as float64, row by row, NaN
# where empty): PhysionetChallenge2012-set-a.csv of Johnson's public repository, Apache-2.0.
PUBLISHED_SET_A = "c885c1c1e9300230ca8a67ad2537053acfae75993895adb749f27de821410101"


def events_table(events: list[Event]) -> pa.Table:
    """Return a tidy table of events, in the order of the list."""
    records, minutes, names, values = zip(*events, strict=True) if events else ((), (), (), ())
    return pa.table(
        {
            "record_id": pa.array(records, pa.int32()),
            "minute": pa.array(minutes, pa.int16()),
            "parameter": pa.array(names, pa.string()).dictionary_encode(),
            "value": pa.array(values, pa.float64()),
        }
    )


def outcomes_table(*rows: tuple[int, str, int, int, int, int, int]) -> pa.Table:
    """Return outcomes: record, set, SAPS-I, SOFA, length of stay, survival, death."""
    columns = list(zip(*rows, strict=True))
    table = {"record_id": pa.array(columns[0], pa.int32()), "set": list(columns[1])}
    return pa.table(
        table | {n: pa.array(c, pa.int32()) for n, c in zip(OUTCOMES, columns[2:], strict=True)}
    )


def features_of(events: list[Event], protocol: Protocol = SOUND) -> dict[str, float]:
    """Return the features of record 1."""
    columns, _ = johnson_features(events_table(events), np.array([1]), protocol)
    return {name: float(column[0]) for name, column in columns.items()}


def test_a_stay_by_hand() -> None:
    found = features_of(
        [
            (1, 0, "Age", 54.0),
            (1, 0, "Gender", 1.0),
            (1, 0, "Height", 170.2),
            (1, 0, "ICUType", 2.0),
            (1, 0, "Weight", 80.6),
            (1, 0, "HR", 88.0),
            (1, 60, "HR", 0.0),  # no heart rate: missing
            (1, 70, "HR", 91.0),
            (1, 75, "HR", 80.0),
            (1, 75, "MechVent", 1.0),
            (1, 80, "Urine", 30.0),
            (1, 90, "Urine", 120.5),
            (1, 100, "pH", 735.0),
            (1, 500, "pH", 7.4),
            (1, 600, None, 3.1),
            (1, 2400, "MechVent", 1.0),
            (1, 2500, "Weight", 81.0),
        ]
    )
    expected = {
        **{"Age": 54, "Gender": 1, "Height": 170.2, "Weight": 80.6},
        **{"CCU": 0, "CSRU": 1, "SICU": 0},
        **{"HR_first": 88, "HR_last": 80, "HR_lowest": 80, "HR_highest": 91, "HR_median": 88},
        **{"pH_first": 7.35, "pH_last": 7.4, "Weight_first": 81, "Weight_last": 81},
        **{"MechVentStartTime": 75, "MechVentDuration": 2325, "MechVentLast8Hour": 1},
        "UrineOutputSum": 150.5,
    }
    assert len(found) == 114
    for name, value in found.items():
        assert value == pytest.approx(expected.get(name, np.nan), nan_ok=True), name


def test_switch_c9_counts_ventilator_records_and_compounds_height_repairs() -> None:
    events: list[Event] = [
        (1, 0, "Height", 13.0),
        (1, 5, "MechVent", 1.0),
        (1, 6, "MechVent", 1.0),
        (1, 6, "Urine", 500.0),
    ]
    sound, published = features_of(events), features_of(events, C9)
    assert (sound["UrineOutputSum"], sound["Height"]) == (500, 130)
    assert (published["UrineOutputSum"], published["Height"]) == (2, pytest.approx(286))
    others = {name for name in sound if name not in ("UrineOutputSum", "Height")}
    assert all(np.array_equal(sound[n], published[n], equal_nan=True) for n in others)


def test_the_last_of_two_weights_at_admission_counts() -> None:
    found = features_of([(1, 0, "Weight", 70.8), (1, 0, "Weight", 70.4)])
    assert found["Weight"] == 70.4
    assert np.isnan(found["Weight_first"])


@pytest.mark.parametrize(
    ("name", "raw", "cleaned"),
    [
        ("Temp", 2.9, 37.22),
        ("Temp", 98.6, 37.0),
        ("Temp", 24.9, np.nan),
        ("Temp", 45.1, np.nan),
        ("pH", 0.74, 7.4),
        ("pH", 74.0, 7.4),
        ("pH", 740.0, 7.4),
        ("pH", 6.4, np.nan),
        ("pH", 95.0, np.nan),
        ("PaCO2", 0.3, np.nan),
        ("PaCO2", 4.0, 40.0),
        ("PaO2", 9.0, 90.0),
        ("DiasABP", -1.0, np.nan),
        ("DiasABP", 201.0, np.nan),
        ("HR", 300.0, np.nan),
        ("HR", 299.0, 299.0),
        ("WBC", 0.9, np.nan),
        ("Weight", 34.9, np.nan),
        ("Urine", 0.0, 0.0),
        ("Height", -1.0, np.nan),
        ("Height", 1.8, 180.0),
        ("Height", 17.8, 178.0),
        ("Height", 70.0, 154.0),
        ("Height", 1800.0, 180.0),
        ("Height", 431.8, 169.99966),
        ("Gender", -1.0, np.nan),
        ("Age", 300.0, 91.4),
    ],
)
def test_cleaning_rules(name: str, raw: float, cleaned: float) -> None:
    table = ADMISSION if name in ("Height", "Gender", "Age") else MEASURED
    rules = tuple(rule for rule in table if rule.variable == name)
    value, counts = clean(np.array([raw, np.nan]), rules)
    assert value[0] == pytest.approx(cleaned, nan_ok=True)
    assert np.isnan(value[1])
    assert sum(counts) <= 2
    assert (sum(counts) > 0) == (cleaned != raw)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.one_of(st.just(np.nan), st.integers(-9, 9).map(float))),
        max_size=40,
    )
)
def test_summaries_agree_with_pandas(pairs: list[tuple[int, float]]) -> None:
    pairs.sort(key=lambda pair: pair[0])
    row = np.array([r for r, _ in pairs], dtype=np.intp)
    value = np.array([v for _, v in pairs])
    groups = pd.Series(value, dtype=float).groupby(row)
    names = {"lowest": "min", "highest": "max"}
    plain = pd.DataFrame({s: getattr(groups, names.get(s, s))() for s in AGGREGATES})
    expected = plain.reindex(range(6)).to_numpy(float)
    np.testing.assert_array_equal(summarise(row, value, 6), expected)


def test_features_do_not_depend_on_the_order_of_records_or_on_other_records() -> None:
    rng = np.random.default_rng(0)
    stays: dict[int, list[Event]] = {}
    for record in (3, 1, 2):
        names = rng.choice(PARAMETERS[4:], size=60)
        minutes = np.sort(rng.integers(1, 2880, size=60))
        stays[record] = [
            (record, int(m), str(n), float(rng.uniform(0, 200)))
            for m, n in zip(minutes, names, strict=True)
        ]
    together, _ = johnson_features(
        events_table([*stays[3], *stays[1], *stays[2]]), np.array([1, 2, 3])
    )
    alone, _ = johnson_features(events_table(stays[1]), np.array([1]))
    for name, column in alone.items():
        np.testing.assert_array_equal(column[0], together[name][0])


def test_an_event_without_outcome_is_refused() -> None:
    with pytest.raises(DataError, match="record 7 .*no outcome"):
        johnson_features(events_table([(7, 0, "Age", 50.0)]), np.array([1, 9]))


def test_length_of_stay_classes() -> None:
    days = np.array([2, 7, 8, 12, 13, 14, 200, -1])
    assert stay_class(days[:-1]).tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert stay_class(days, L2).tolist() == [0, 0, 1, 1, 0, 2, 0, 0]


STAYS = outcomes_table(
    (3, "b", 9, 4, -1, -1, 0),
    (1, "a", -1, 2, 5, 3, 1),
    (2, "a", 10, 1, 10, -1, 0),
)
EVENTS = events_table([(1, 0, "Age", 50.0), (2, 0, "Age", 60.0), (3, 0, "Age", 70.0)])


def test_cic_and_its_switches() -> None:
    features, cohort = cic_features("death", EVENTS, STAYS)
    assert features.row_id.tolist() == [1, 2, 3]
    assert features.label.tolist() == [1, 0, 0]
    assert features.group is not None
    assert features.group.tolist() == ["a", "a", "b"]
    assert len(features.names) == 114
    assert not set(features.names) & set(OUTCOMES)
    assert cohort["sets"] == {"a": 2, "b": 1}
    assert cohort["flow"][0]["rows"] == cohort["flow"][1]["rows"]
    published, _ = cic_features("death", EVENTS, STAYS, L1)
    assert published.names == ("SAPS-I", "SOFA", "Length_of_stay", *features.names)
    assert published.X[:, 2].tolist() == [5, 10, -1]
    for other in (C9, L2):
        assert cic_features("death", EVENTS, STAYS, other)[0].names == features.names


def test_cic_los_and_its_switches() -> None:
    features, cohort = cic_features("stay", EVENTS, STAYS)
    assert (features.row_id.tolist(), features.label.tolist()) == ([1, 2], [0, 1])
    assert cohort["flow"][0]["rows"] - cohort["flow"][1]["rows"] == 1
    assert cohort["sets"] == {"a": 2}
    published, _ = cic_features("stay", EVENTS, STAYS, L1)
    assert published.names == ("SAPS-I", "SOFA", *features.names)
    ties, cohort = cic_features("stay", EVENTS, STAYS, L2)
    assert ties.label.tolist() == [0, 1, 0]
    assert cohort["flow"][0]["rows"] == cohort["flow"][1]["rows"]


def test_an_unknown_data_set_is_named() -> None:
    with pytest.raises(ConfigError, match="'deth'"):
        cic_features("deth", EVENTS, STAYS)


def test_build_writes_features_and_cohort(tmp_path: Path) -> None:
    write_table(tmp_path / "events.parquet", EVENTS)
    write_table(tmp_path / "outcomes.parquet", STAYS)
    entry = REGISTRY.dataset("cic_los")
    build_features(
        entry.features,
        tmp_path,
        tmp_path / "cic_los.parquet",
        tmp_path / "cohort.json",
        dataset="cic_los",
        protocol=SOUND,
        options={},
        unit=entry.unit,
    )
    assert read_features(tmp_path / "cic_los.parquet").row_id.tolist() == [1, 2]
    cohort = json.loads((tmp_path / "cohort.json").read_text())
    assert cohort["unit"] == "ICU stay"
    assert cohort["events"] == {"lines": 3, "nameless": 0}


def test_every_parameter_has_a_unit_and_a_range() -> None:
    table = parameter_table()
    assert sorted(row["variable"] for row in table) == sorted(PARAMETERS)
    for row in table:
        assert row["unit"]
        assert row["source"]
        assert float(row["low"]) < float(row["high"])


@pytest.mark.real
@pytest.mark.slow
def test_the_published_table_is_reproduced_cell_by_cell(tmp_path: Path) -> None:
    extract(
        {letter: f"{MIRROR}/physionet2012/set-{letter}.tar.xz" for letter in "abc"},
        {letter: f"{MIRROR}/physionet2012/Outcomes-{letter}.txt" for letter in "abc"},
        events_path=tmp_path / "events.parquet",
        outcomes_path=tmp_path / "outcomes.parquet",
    )
    events = read_table(tmp_path / "events.parquet")
    outcomes = read_table(tmp_path / "outcomes.parquet")
    record_id = outcomes["record_id"].to_numpy()
    columns, _ = johnson_features(events, record_id, C9)
    table = np.column_stack(
        [record_id, *(outcomes[name].to_numpy() for name in OUTCOMES), *columns.values()]
    ).astype("<f8")
    table = table[outcomes["set"].to_numpy() == "a"] + 0.0  # no negative zero
    table[np.isnan(table)] = np.nan  # one kind of NaN
    assert table.shape == (4000, 120)
    assert hashlib.sha256(table.tobytes()).hexdigest() == PUBLISHED_SET_A
    published = Protocol.from_folder("as_published/")
    shapes = {
        (dataset, protocol.name): cic_features(dataset, events, outcomes, protocol)[0].X.shape
        for dataset in ("death", "stay")
        for protocol in (SOUND, published)
    }
    assert shapes == {
        ("death", "sound"): (12000, 114),
        ("death", "as_published"): (12000, 117),
        ("stay", "sound"): (11833, 114),
        ("stay", "as_published"): (12000, 116),
    }
