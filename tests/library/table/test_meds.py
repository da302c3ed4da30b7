"""MEDS folders: what a row is made of, what is refused, and the table that is made of one.

The folder of `meds_folders` was accepted by ``DataSchema.validate`` and ``LabelSchema.validate``
of the package meds 0.4.1, whose rules `EVENTS` and `LABELS` repeat.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from described_tables import inferred, use_of
from meds_folders import EVENTS, HOUR, LABELS, START, write_meds, write_rows

from deepcac import SequenceSummary, load
from deepcac.command import main
from deepcac.errors import ConfigError, DataError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.meds.event_summary import EventFeature, summarise
from deepcac.table.meds.meds_files import read_events, read_labels
from deepcac.table.meds.meds_table import shards, write_meds_table
from deepcac.table.risk_tables import fit_table

USE = use_of("boolean_value", id="prediction", patient="subject_id")
KINDS = ("count", "days_since", "last", "mean", "change", "recorded", "value")


@pytest.fixture
def folder(tmp_path):
    write_meds(tmp_path / "meds")
    return tmp_path / "meds"


def converted(folder, **options):
    """Return the table that is made of a folder."""
    path = folder / "table.parquet"
    n, _ = write_meds_table(folder, folder / "task.parquet", path, say=str, **options)
    table = pq.read_table(path)
    assert len(table) == n
    return table


def plain_model(folder):
    """Return the path of a model that is fitted on the table of a folder."""
    converted(folder)
    model = folder / "model.json"
    fit_table(inferred(folder / "table.parquet", USE), model, TableRun(str, jobs=1), method="plain")
    return model


def rewritten(folder, change):
    """Write each shard with the events that `change` makes of its own."""
    for file in (folder / "data").rglob("*.parquet"):
        rows = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
        write_rows(file, EVENTS, change(rows))


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
    before = converted(folder)
    after = START + 24 * HOUR + pd.Timedelta(microseconds=1)
    rewritten(folder, lambda rows: [*rows, *((row[0], after, "HR", 9e3) for row in rows)])
    assert converted(folder).equals(before)
    assert np.nanmax(before["HR_last"].to_numpy()) < 200


def test_a_code_that_is_called_as_the_label_is_a_feature_and_the_label_stays(folder):
    rewritten(folder, lambda rows: [*rows, *((s, None, "boolean", 7.0) for s, *_ in rows)])
    labels = pq.read_table(folder / "task.parquet")["boolean_value"]
    made = converted(folder)
    assert sum(made["boolean_value"].to_pylist()) == sum(labels.to_pylist())
    assert set(made["code boolean_value"].to_pylist()) == {7.0}
    rewritten(folder, lambda rows: [r if r[2] != "boolean" else (*r[:3], r[0] % 3) for r in rows])
    model = plain_model(folder)
    again = converted(folder, like=model)
    assert again["code boolean_value"].to_pylist() == [
        s % 3 for s in again["subject_id"].to_pylist()
    ]


def test_the_rule_for_codes_is_kept_and_told(folder):
    told = []
    out = folder / "table.parquet"
    write_meds_table(folder, folder / "task.parquet", out, say=told.append)
    assert "6 of 7 codes" in told[0]
    names = pq.read_schema(out).names
    assert names[:3] == ["prediction", "subject_id", "boolean_value"]
    codes = {EventFeature.parse(name).code for name in names[3:]}
    assert codes == {"GENDER//F", "GENDER//M", "HEIGHT", "HR", "LACTATE", "MEDS_BIRTH"}
    assert {name for name in names if name.startswith(("HEIGHT", "MEDS_BIRTH"))} == {
        *("HEIGHT_recorded", "HEIGHT_value", "MEDS_BIRTH_count", "MEDS_BIRTH_days_since"),
    }


def test_a_table_of_meds_is_read_with_subjects_as_groups(folder):
    converted(folder)
    table = read_labelled(inferred(folder / "table.parquet", USE))
    assert table.classes == ("False", "True")
    assert len(np.unique(table.group)) == 120
    used = {column.name for column in table.encoder.used}
    assert {"HR_last", "GENDER//F_recorded", "LACTATE_change", "MEDS_BIRTH_days_since"} <= used
    assert not used & {"subject_id", "prediction", "MEDS_BIRTH_count"}


def test_labels_may_be_of_several_files_and_types(folder, tmp_path):
    labels = pq.read_table(folder / "task.parquet")
    died = pa.array(np.where(labels["boolean_value"], "yes", "no")).dictionary_encode()
    labels = labels.set_column(2, "died", died)
    (tmp_path / "labels").mkdir()
    for start in (0, 40, 80):
        pq.write_table(labels[start : start + 40], tmp_path / "labels" / f"{start}.parquet")
    out = tmp_path / "table.parquet"
    write_meds_table(folder, tmp_path / "labels", out, label="died", say=str)
    made = pq.read_table(out, columns=["subject_id", "died"]).to_pandas().set_index("subject_id")
    assert made["died"].sort_index().tolist() == labels["died"].to_pylist()


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["deepcac", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0


def test_the_commands_make_fit_and_predict_a_table(folder, tmp_path, monkeypatch, capsys):
    table, model, risk = (tmp_path / name for name in ("t.parquet", "m.json", "risk.csv"))
    assert not run(monkeypatch, "meds", folder, folder / "task.parquet", "--out", table)
    call = capsys.readouterr().out.splitlines()[-1].removeprefix("then: ").split()
    assert call[:3] == ["deepcac", "compare", str(table)]
    assert not run(monkeypatch, "fit", *call[2:], "--method", "plain", "--out", model)
    new = tmp_path / "new"
    labels = write_meds(new, n=8, seed=3, files=1)  # fewer subjects than a code needs to be used
    assert not run(monkeypatch, "meds", new, labels, "--like", model, "--out", table)
    call = capsys.readouterr().out.splitlines()[-1].removeprefix("then: ").split()
    assert not run(monkeypatch, *call[1:], "--out", risk)
    assert pd.read_csv(risk)["prediction"].tolist() == [
        f"{s} 2020-01-02T00:00:00" for s in range(8)
    ]


def test_a_code_that_no_new_subject_has_is_no_event_to_a_model(folder):
    """Counts and flags are 0 and the other summaries empty, as in a row of the fit without it."""
    model = plain_model(folder)
    fitted = converted(folder).to_pandas()
    rewritten(folder, lambda rows: [row for row in rows if row[2] != "LACTATE"])
    new = converted(folder, like=model).to_pandas()
    used = [column.name for column in load(model).encoder.used]
    assert set(new) == {"prediction", "subject_id", "boolean_value", *used}
    assert set(new["LACTATE_count"]) == {0}
    assert new[["LACTATE_last", "LACTATE_mean", "LACTATE_days_since"]].isna().all(axis=None)
    without = (fitted["LACTATE_count"] == 0).to_numpy()
    assert 10 < without.sum() < 100
    with pytest.warns(UserWarning, match="'LACTATE_last': no value in 120 of 120 rows"):
        risks = [load(model).predict_proba(rows, accept_unseen=True) for rows in (fitted, new)]
    np.testing.assert_array_equal(risks[0][without], risks[1][without])
    assert (risks[0][~without] != risks[1][~without]).any()


def test_the_table_like_a_model_needs_no_outcome(folder):
    model = plain_model(folder)
    schema = pa.schema([field.with_nullable(True) for field in LABELS])
    rows = [(7, START + 9 * HOUR, None), (8, START + 9 * HOUR, True)]
    write_rows(folder / "task.parquet", schema, rows)
    made = converted(folder, like=model).to_pylist()
    assert {row["subject_id"]: row["boolean_value"] for row in made} == {7: None, 8: True}
    with pytest.raises(DataError, match="column 'boolean_value', data row 1: empty"):
        converted(folder)
    write_rows(folder / "task.parquet", pa.schema([*LABELS][:2]), [row[:2] for row in rows])
    assert "boolean_value" not in converted(folder, like=model).column_names
    with pytest.raises(DataError, match="no column 'boolean_value'; there are subject_id"):
        converted(folder)


def test_what_is_read_is_not_written_over(folder, monkeypatch, capsys):
    labels, shard = folder / "task.parquet", folder / "data" / "train" / "1.parquet"
    for out in (labels, shard):
        before = out.read_bytes()
        assert run(monkeypatch, "meds", folder, labels, "--out", out) == 2
        assert "is what is read; name another file" in capsys.readouterr().err
        assert out.read_bytes() == before


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
    elif what == "label twice":
        kept = pq.read_table(labels)
        pq.write_table(kept.append_column("boolean_value", kept["boolean_value"]), labels)


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
        ("no code", r"1\.parquet: no column 'code'; there are subject_id, time"),
        ("labels without time", "no column 'prediction_time'; there are"),
        ("subject in two files", "subject 0 stands in another file too; MEDS has each in one"),
        ("label twice", "column 'boolean_value' stands twice"),
        ("no parquet", r"1\.parquet: not readable as parquet"),
    ],
)
def test_what_meds_does_not_allow_is_told_in_one_line(folder, what, message):
    broken(folder, what)
    with pytest.raises(DataError, match=message) as error:
        converted(folder)
    assert "\n" not in str(error.value)


def test_options_that_make_no_table_are_refused(folder):
    with pytest.raises(ConfigError, match="'subject_id' names the row"):
        converted(folder, label="subject_id")
    with pytest.raises(ConfigError, match="--label has no use with --like"):
        converted(folder, label="boolean_value", like=plain_model(folder))
    with pytest.raises(ConfigError, match=r"name a \.parquet file"):
        write_meds_table(folder, folder / "task.parquet", folder / "table.csv", say=str)
    ages = {"age": np.arange(99) % 40 / 7, "died": [0, 1, 1] * 33}
    pd.DataFrame(ages).to_csv(folder / "p.csv", index=False)
    run = TableRun(str, jobs=1)
    fit_table(inferred(folder / "p.csv"), folder / "age.json", run, method="plain")
    with pytest.raises(DataError, match=r"age\.json: reads no summary of events"):
        converted(folder, like=folder / "age.json")


@pytest.mark.parametrize(
    "call",
    [
        *("profile {}", "compare {} --label died", "fit {} --label died", "power {} --label died"),
        *("audit {} --label died --groups ward", "predict {}/model.json {}"),
        "compare {}/table.parquet --label boolean_value --external {}",
    ],
)
def test_other_commands_name_the_one_that_makes_a_table(folder, monkeypatch, capsys, call):
    plain_model(folder)
    monkeypatch.chdir(folder)
    assert run(monkeypatch, *call.format(*[folder] * 2).split()) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"deepcac meds {folder} LABELS --out table.parquet" in line


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
