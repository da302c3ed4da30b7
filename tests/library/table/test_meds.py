"""MEDS folders: what a row is made of, what is refused, and the command on one.

The folder of `meds_folders` was accepted by ``DataSchema.validate`` and ``LabelSchema.validate``
of the package meds 0.4.1, whose rules `EVENTS` and `LABELS` repeat.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from meds_folders import EVENTS, HOUR, LABELS, START, write_meds, write_rows

from deepcac import SequenceSummary, load
from deepcac.command import main
from deepcac.errors import ConfigError, DataError
from deepcac.table.meds.event_summary import EventFeature, summarise
from deepcac.table.meds.meds_files import read_events, read_labels
from deepcac.table.meds.meds_task import new_source, open_task, shards, table_source
from deepcac.table.reading.labelled_table import read_labelled
from deepcac.table.reading.roles import Roles

KINDS = ("count", "days_since", "last", "mean", "change", "recorded", "value")


@pytest.fixture
def folder(tmp_path):
    write_meds(tmp_path / "meds")
    return tmp_path / "meds"


def told_slowly(events, subject, until, code):
    """Return every summary of a code by a loop over the events of one subject."""
    own = [e for e in events if e[0] == subject and e[2] == code]
    timed = sorted((e for e in own if e[1] is not None and e[1] <= until), key=lambda e: e[1])
    static = [e for e in own if e[1] is None]
    numbers = [e[3] for e in timed if e[3] is not None]
    fixed = [e[3] for e in static if e[3] is not None]
    return {
        "count": len(timed),
        "days_since": (until - timed[-1][1]).total_seconds() / 86400 if timed else np.nan,
        "last": numbers[-1] if numbers else np.nan,
        "mean": float(np.mean(numbers)) if numbers else np.nan,
        "change": numbers[-1] - numbers[0] if numbers else np.nan,
        "recorded": float(bool(static)),
        "value": fixed[-1] if fixed else np.nan,
    }


def random_events(rng, n=300):
    """Return events of six subjects, several at one time and with holes, in order of time."""
    times = [None, *(START + int(h) * HOUR for h in range(8))]
    events = [
        (
            int(rng.integers(6)),
            times[rng.integers(len(times))],
            "abc"[rng.integers(3)],
            None if rng.random() < 0.4 else float(rng.integers(-50, 50)),
        )
        for _ in range(n)
    ]
    return sorted(events, key=lambda e: e[1] or START)


def frames(events, until):
    frame = pd.DataFrame(events, columns=["subject_id", "time", "code", "numeric_value"])
    frame["time"] = frame["time"].astype("datetime64[us]")
    frame["numeric_value"] = frame["numeric_value"].astype(float)
    rows = pd.DataFrame(until, columns=["subject_id", "prediction_time"])
    return frame, rows.astype({"prediction_time": "datetime64[us]"})


@pytest.mark.parametrize("seed", range(5))
def test_summaries_equal_a_loop(seed):
    rng = np.random.default_rng(seed)
    events = random_events(rng, n=int(rng.integers(1, 300)))
    until = [(s, START + h * HOUR) for s in range(6) for h in (-1, 3, 7)]
    features = [EventFeature(code, kind) for code in "abc" for kind in KINDS]
    found = summarise(*frames(events, until), features)
    for one in features:
        expected = [told_slowly(events, s, at, one.code)[one.kind] for s, at in until]
        np.testing.assert_allclose(found[one.name], expected, err_msg=one.name)


def test_events_on_the_hour_are_those_of_sequence_summary():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((6, 8, 1)) < 0.5, np.nan, rng.integers(0, 9, (6, 8, 1)))
    events = [
        (s, START + h * HOUR, "a", float(X[s, h, 0]))
        for s, h in zip(*np.nonzero(~np.isnan(X[..., 0])), strict=True)
    ]
    until = [(s, START + 7 * HOUR) for s in range(6)]
    summary = SequenceSummary(names=["a"]).fit(X)
    told = dict(zip(summary.get_feature_names_out(), summary.transform(X).T, strict=True))
    found = summarise(*frames(events, until), [EventFeature("a", kind) for kind in KINDS[:5]])
    for kind in ("count", "last", "mean", "change"):
        np.testing.assert_allclose(found[f"a_{kind}"], told[f"a_{kind}"])
    np.testing.assert_allclose(24 * found["a_days_since"], told["a_hours_since"])


def test_what_happens_after_the_prediction_changes_nothing(folder):
    task = open_task(folder, folder / "task.parquet")
    before = pa.Table.from_batches(task.blocks())
    for file in (folder / "data").rglob("*.parquet"):
        rows = pq.read_table(file).to_pylist()
        rows = [tuple(one.values()) for one in rows]
        late = [
            (one[0], START + 24 * HOUR + pd.Timedelta(microseconds=1), "HR", 9e3) for one in rows
        ]
        write_rows(file, EVENTS, [*rows, *late])
    after = pa.Table.from_batches(open_task(folder, folder / "task.parquet").blocks())
    assert after.equals(before)
    values = before["HR_last"].to_numpy()
    assert np.nanmax(values) < 200


def test_a_code_that_is_called_as_the_label_is_a_feature_and_the_label_stays(folder):
    for file in (folder / "data").rglob("*.parquet"):
        rows = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
        subjects = sorted({row[0] for row in rows})
        write_rows(file, EVENTS, [*rows, *((s, None, "boolean", 7.0) for s in subjects)])
    labels = pq.read_table(folder / "task.parquet")["boolean_value"]
    task = open_task(folder, folder / "task.parquet")
    made = pa.Table.from_batches(task.blocks())
    assert sum(made["boolean_value"].to_pylist()) == sum(labels.to_pylist())
    assert set(made["code boolean_value"].to_pylist()) == {7.0}
    for source, label in ((task, ""), (new_source(folder, folder / "task.parquet"), task.label)):
        again = pa.Table.from_batches(source.with_features(made.column_names, label).blocks())
        assert set(again["code boolean_value"].to_pylist()) == {7.0}


def test_the_rule_for_codes_is_kept_and_told(folder):
    task = open_task(folder, folder / "task.parquet")
    codes = {one.code for one in task.features}
    assert codes == {"GENDER//F", "GENDER//M", "HEIGHT", "HR", "LACTATE", "MEDS_BIRTH"}
    assert "6 of 7 codes" in task.remarks[0]
    names = {one.name for one in task.features if one.code in ("HEIGHT", "MEDS_BIRTH")}
    assert names == {
        *("HEIGHT_recorded", "HEIGHT_value", "MEDS_BIRTH_count", "MEDS_BIRTH_days_since"),
    }


def test_a_task_is_a_labelled_table_with_subjects_as_groups(folder):
    source, roles = table_source(folder, folder / "task.parquet", Roles(""))
    table = read_labelled(source, roles)
    assert (roles.label, roles.id, roles.group) == ("boolean_value", "prediction", "subject_id")
    assert table.classes == ("False", "True")
    assert table.name == "meds"
    assert len(np.unique(table.group)) == 120
    assert any("MEDS: events up to the prediction time" in one for one in table.remarks)
    used = {column.name for column in table.encoder.used}
    assert {"HR_last", "GENDER//M_recorded", "LACTATE_change", "MEDS_BIRTH_days_since"} <= used
    assert not used & {"subject_id", "prediction", "MEDS_BIRTH_count"}


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["deepcac", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0


def test_the_command_on_a_folder(folder, tmp_path, monkeypatch, capsys):
    labels, model, risk = folder / "task.parquet", tmp_path / "m.json", tmp_path / "risk.csv"
    page = tmp_path / "profile.html"
    assert not run(monkeypatch, "profile", folder, "--labels", labels, "--out", page)
    assert "MEDS_BIRTH_days_since" in page.read_text()
    assert "6 of 7 codes" in page.read_text()
    options = ("--method", "plain", "--out", model)
    assert not run(monkeypatch, "fit", folder, "--labels", labels, *options)
    assert "MEDS: events up to the prediction time" in capsys.readouterr().err
    new = tmp_path / "new"
    new_labels = write_meds(
        new, n=8, seed=3, files=1
    )  # fewer subjects than a code needs to be used
    assert not run(monkeypatch, "predict", model, new, "--labels", new_labels, "--out", risk)
    found = pd.read_csv(risk)
    assert found["prediction"].tolist() == [f"{s} 2020-01-02T00:00:00" for s in range(8)]
    task = open_task(folder, labels).with_features([c.name for c in load(model).encoder.used])
    frame = pa.Table.from_batches(list(task.blocks())).to_pandas()
    assert load(model).predict_proba(frame).shape == (120, 2)


def test_sites_of_a_folder_are_columns_of_its_rows(folder, tmp_path, monkeypatch, capsys):
    options = ("--labels", folder / "task.parquet", "--site", "ward", "--out", tmp_path / "c.html")
    assert run(monkeypatch, "compare", folder, *options) == 2
    assert "no column 'ward'; there are prediction, subject_id" in capsys.readouterr().err


def test_labels_and_shards_are_not_written_over(folder, monkeypatch, capsys):
    labels, shard = folder / "task.parquet", folder / "data" / "train" / "1.parquet"
    for out in (labels, shard):
        before = out.read_bytes()
        assert run(monkeypatch, "profile", folder, "--labels", labels, "--out", out) == 2
        assert "is what is read; name another file" in capsys.readouterr().err
        assert out.read_bytes() == before


def test_risks_are_told_of_rows_whose_label_is_not_known_yet(folder, tmp_path, monkeypatch):
    labels, model, risk = folder / "task.parquet", tmp_path / "m.json", tmp_path / "risk.csv"
    options = ("--method", "plain", "--out", model)
    assert not run(monkeypatch, "fit", folder, "--labels", labels, *options)
    schema = pa.schema([field.with_nullable(True) for field in LABELS])
    write_rows(labels, schema, [(7, START + 9 * HOUR, None), (8, START + 9 * HOUR, True)])
    assert not run(monkeypatch, "predict", model, folder, "--labels", labels, "--out", risk)
    assert len(pd.read_csv(risk)) == 2


def broken(folder, what):
    """Break one thing of a folder."""
    labels, shard = folder / "task.parquet", folder / "data" / "train" / "1.parquet"
    if what == "no data":
        for file in (folder / "data").rglob("*.parquet"):
            file.unlink()
    elif what == "unknown subject":
        rows = [(7, START + HOUR, True), (999, START, False), (999, START + HOUR, False)]
        write_rows(labels, LABELS, [*rows, (1000, START - HOUR, True)])
    elif what == "twice":
        write_rows(labels, LABELS, [(7, START, True), (7, START, False)])
    elif what == "empty time":
        schema = pa.schema([field.with_nullable(True) for field in LABELS])
        write_rows(labels, schema, [(7, START, True), (8, None, True)])
    elif what == "time as text":
        kept = pq.read_table(shard)
        place = kept.column_names.index("time")
        pq.write_table(kept.set_column(place, "time", kept["time"].cast(pa.string())), shard)
    elif what == "no code":
        pq.write_table(pq.read_table(shard).drop_columns("code"), shard)
    elif what == "labels without time":
        pq.write_table(pq.read_table(labels).drop_columns("prediction_time"), labels)
    elif what == "subject in two files":
        pq.write_table(pq.read_table(folder / "data" / "train" / "0.parquet"), shard)
    elif what == "no parquet":
        shard.write_text("subject_id,time\n")
    return labels


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("no data", r"no MEDS folder; it has no data/\*\*/\*\.parquet"),
        (
            "unknown subject",
            r"labels, data row [23]: subject 999 has no event in .*\(fewer than 8 such subjects\); take their rows out",
        ),
        ("twice", "data row 2: subject 7 stands at 2020-01-01 00:00:00 already; keep one row"),
        ("empty time", "column 'prediction_time', data row 2: empty; fill it in"),
        ("time as text", r"1\.parquet: column 'time' is of type string, MEDS has timestamp\[us\]"),
        ("no code", r"1\.parquet: no column 'code', which MEDS has; there are subject_id, time"),
        ("labels without time", "no column 'prediction_time', which MEDS has"),
        ("subject in two files", "subject 0 stands in another file too; MEDS has each in one"),
        ("no parquet", r"1\.parquet: not readable as parquet"),
    ],
)
def test_what_meds_does_not_allow_is_told_in_one_line(folder, what, message):
    labels = broken(folder, what)
    with pytest.raises(DataError, match=message) as error:
        open_task(folder, labels)
    assert "\n" not in str(error.value)


def test_a_folder_needs_labels_and_labels_a_folder(folder, tmp_path):
    with pytest.raises(ConfigError, match=r"is a folder; of a MEDS folder name --labels"):
        table_source(folder, None, Roles("died"))
    with pytest.raises(ConfigError, match="is no folder; --labels is for a MEDS folder"):
        table_source(folder / "task.parquet", folder / "task.parquet", Roles("died"))
    with pytest.raises(ConfigError, match="--id and --group are for tables"):
        table_source(folder, folder / "task.parquet", Roles("", group="ward"))


def test_every_labelled_row_is_in_one_shard(folder):
    labels = read_labels(folder / "task.parquet", "boolean_value")
    parts = list(shards(folder, labels))
    assert sorted(s for _, rows in parts for s in rows["subject_id"]) == list(range(120))
    events = read_events(folder / "data" / "train" / "0.parquet")
    assert events["numeric_value"].dtype == np.float64


def test_a_code_is_read_as_the_name_of_a_column_is(tmp_path):
    """A model knows its features by these names: with two spaces it would find no event again."""
    at = pd.Timestamp("2020-01-01")
    codes = ["DRUG//Saline  Flush", "DRUG//Saline Flush", "DRUG//Saline\u00a0Flush"]
    events = pd.DataFrame({"subject_id": [1, 1, 2], "time": [at] * 3, "code": codes})
    events["numeric_value"] = np.float32(1)
    path = tmp_path / "0.parquet"
    events.to_parquet(path)
    assert set(read_events(path)["code"]) == {"DRUG//Saline Flush"}
