from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from mirrors import MIRROR
from pyarrow import csv

from deepcac.errors import ConfigError, DataError
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.features.ards import DEMOGRAPHICS, ards, ards_ts, cohort, positives
from deepcac_study.simulate.mimic3_tables import EVENT_TABLES, columns, simulate
from deepcac_study.sources.mimic3 import extract
from deepcac_study.sources.mimic3.items import variable_names

S1, S2 = Protocol(frozenset({"S1"})), Protocol(frozenset({"S2"}))


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    simulate(folder, n=60, seed=3)
    return folder


@pytest.fixture(scope="module")
def tidy(raw, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tidy")
    extract(raw, folder)
    return folder


def edited(raw, target, change):
    """Copy the tables; every event 24 hours or more after admission goes through `change`."""
    stays = csv.read_csv(raw / "ICUSTAYS.csv")
    subject = stays["SUBJECT_ID"].to_pylist()
    intime = dict(zip(subject, stays["INTIME"].to_pylist(), strict=True))
    target.mkdir()
    for name in columns():
        table = csv.read_csv(raw / f"{name}.csv")
        if name in EVENT_TABLES:
            admitted = pa.array([intime[id_] for id_ in table["SUBJECT_ID"].to_pylist()])
            charted = table["CHARTTIME"].combine_chunks().cast(pa.timestamp("us"))
            passed = pc.seconds_between(admitted.cast(pa.timestamp("us")), charted)
            table = change(table, pc.greater_equal(passed, 24 * 3600), name)
        csv.write_csv(table, target / f"{name}.csv")
    return target


def tripled(table, late, name):
    column = "VALUE" if name == "OUTPUTEVENTS" else "VALUENUM"
    changed = pc.if_else(late, pc.multiply(table[column], 3.0), table[column])
    return table.set_column(table.column_names.index(column), column, changed)


def removed(table, late, name):
    return table.filter(pc.invert(late))


# Nothing that happens after the first 24 hours may be seen by a sound feature.
@pytest.mark.parametrize("change", [tripled, removed])
@pytest.mark.parametrize("build", [ards, ards_ts])
def test_no_value_after_24_hours_changes_a_sound_feature(raw, tidy, tmp_path, build, change):
    extract(edited(raw, tmp_path / "raw", change), tmp_path / "tidy")
    before, _ = build(tidy)
    after, _ = build(tmp_path / "tidy")
    np.testing.assert_array_equal(after.row_id, before.row_id)
    np.testing.assert_array_equal(after.X, before.X)


# The same check fails for the published aggregates over the whole stay: it can fail.
def test_published_aggregates_see_the_future(raw, tidy, tmp_path):
    extract(edited(raw, tmp_path / "raw", tripled), tmp_path / "tidy")
    before, _ = ards(tidy, S1)
    after, _ = ards(tmp_path / "tidy", S1)
    assert not np.array_equal(after.X, before.X, equal_nan=True)


def test_switches_change_only_what_they_name(tidy):
    sound, _ = ards(tidy)
    whole, _ = ards(tidy, S1)
    filled, _ = ards(tidy, S2)
    median = np.array([name.endswith("_median") for name in sound.names])
    np.testing.assert_array_equal(filled.X[:, ~median], sound.X[:, ~median])
    assert not np.array_equal(filled.X[:, median], sound.X[:, median], equal_nan=True)
    first = [sound.names.index(name) for name in ("HR_first", "Age", "Male")]
    np.testing.assert_array_equal(whole.X[:, first], sound.X[:, first])
    assert (
        whole.X[:, sound.names.index("HR_highest")] >= sound.X[:, sound.names.index("HR_highest")]
    ).all()


def test_shape_and_order_of_columns(tidy):
    static, flow = ards(tidy)
    assert static.X.shape == (len(static.label), 97 * 5 + 7)
    series, _ = ards_ts(tidy)
    assert series.sequences().shape == (len(static.label), 24, 97 + 7)
    np.testing.assert_array_equal(series.row_id, static.row_id)
    np.testing.assert_array_equal(series.label, static.label)
    place = (*DEMOGRAPHICS, *variable_names()).index("HR")
    highest = np.nanmax(series.sequences()[:, :, place], axis=1)
    # Hourly medians cannot exceed the highest measurement.
    assert (highest <= static.X[:, static.names.index("HR_highest")]).all()
    np.testing.assert_array_equal(series.sequences()[:, 13, 0], static.X[:, 0])
    assert flow["flow"][5]["rows"] == len(static.label)


def test_every_exclusion_is_counted(tidy):
    stays, flow = cohort(tidy)
    rows = [step["rows"] for step in flow]
    assert rows[0] == 60
    assert rows == sorted(rows, reverse=True)
    assert rows[3] < rows[2], "the generator plants short stays"
    assert rows[5] < rows[4], "the generator plants early onsets"
    assert sum(positives(stays).values()) == stays["label"].sum()
    assert not (stays["onset_minute"] <= 24 * 60).any()


def test_nobody_left_is_an_error(raw, tmp_path):
    target = edited(raw, tmp_path / "raw", removed)
    path = target / "ICUSTAYS.csv"
    one = csv.read_csv(path)
    early = pc.equal(one["ICUSTAY_ID"], _early_onset(raw))
    csv.write_csv(one.filter(early), path)
    extract(target, tmp_path / "tidy")
    with pytest.raises(DataError, match="no stay"):
        ards(tmp_path / "tidy")


def _early_onset(raw):
    """Find a synthetic stay whose PEEP is 8 before hour 20."""
    chart = csv.read_csv(raw / "CHARTEVENTS.csv").to_pandas()
    stays = csv.read_csv(raw / "ICUSTAYS.csv").to_pandas()
    joined = chart.merge(stays[["ICUSTAY_ID", "INTIME", "LOS"]], on="ICUSTAY_ID")
    hours = (joined["CHARTTIME"] - joined["INTIME"]).dt.total_seconds() / 3600
    ill = joined["ITEMID"].isin([506, 220339]) & (joined["VALUENUM"] == 8) & (hours < 20)
    return int(joined[ill & (joined["LOS"] > 1)]["ICUSTAY_ID"].iloc[0])


def test_generator_gives_the_same_bytes_for_the_same_seed(tmp_path):
    for folder, seed in (("one", 1), ("two", 1), ("other", 2)):
        simulate(tmp_path / folder, n=12, seed=seed)
    one, two, other = (
        {p.name: p.read_bytes() for p in (tmp_path / f).iterdir()} for f in ("one", "two", "other")
    )
    assert one == two
    assert one["CHARTEVENTS.csv"] != other["CHARTEVENTS.csv"]
    assert one["CHARTEVENTS.csv"].split(b"\n")[0].count(b",") == 14
    with pytest.raises(ConfigError, match="at least one"):
        simulate(tmp_path / "none", n=0)


# The risk of the planted subtypes differs, and each follows its own variable.
@pytest.mark.slow
def test_planted_subtypes_have_their_own_risk(tmp_path):
    simulate(tmp_path / "raw", n=900, seed=0)
    extract(tmp_path / "raw", tmp_path / "tidy")
    features, _ = ards(tmp_path / "tidy")
    truth = csv.read_csv(tmp_path / "raw" / "SUBTYPES.csv").to_pandas().set_index("ICUSTAY_ID")
    subtype = truth.loc[features.row_id, "SYNTHETIC_SUBTYPE"].to_numpy()
    for group, (name, sign) in enumerate((("Lactate", 1), ("RespRate", 1), ("WBC", -1))):
        rows = subtype == group
        x = features.X[rows, features.names.index(f"{name}_median")]
        y = features.label[rows]
        assert sign * (x[y == 1].mean() - x[y == 0].mean()) > 0.5 * x.std()


def test_registry_says_what_is_restricted_and_what_is_too_small():
    registry = load_registry(Path(__file__).parents[3] / "config" / "registry")
    for name, source in (("ards", "mimic3"), ("ards_ts", "mimic3"), ("wid_mortality", "wids")):
        assert registry.dataset(name).source == source
        assert registry.dataset(f"demo_{name}").source == source
        assert registry.source(source).restricted
    demo = registry.dataset("ards_demo")
    assert not registry.source(demo.source).restricted
    assert "far too small" in demo.note
    assert demo.switches == registry.dataset("ards").switches == ("S1", "S2")
    assert registry.dataset("ards_ts").sequence


@pytest.mark.real
def test_cohort_of_the_open_demo(tmp_path):
    archive = f"{MIRROR}/mimic3_demo/mimic-iii-clinical-database-demo-1.4.tar.xz"
    extract(archive, tmp_path)
    features, flow = ards(tmp_path)
    assert [step["rows"] for step in flow["flow"]] == [136, 100, 99, 81, 81, 63]
    assert features.X.shape == (63, 492)
    assert features.label.sum() == 5
    assert positives(cohort(tmp_path)[0]) == {"charted": 3, "code only": 2}
    # Every variable of the item map is measured in somebody's first day, but these.
    empty = {
        name.rpartition("_")[0] for name in np.array(features.names)[np.isnan(features.X).all(0)]
    }
    assert len(empty) <= 3
