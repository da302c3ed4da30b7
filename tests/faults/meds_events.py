"""Seeded mutants of a MEDS folder and its labels: read, or refused in one clear line."""

import hashlib
import random
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from children import Trial, trials
from lone_patients import lone_patients
from own_tables import EVERY, LEAK, PAGE, counted, tried
from parsers import mutant
from project import Row

from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.labelled_table import described_table, read_labelled
from deepcac.table.meds.meds_table import write_meds_table
from deepcac.table.pages.profile_page import write_profile_page

START = pd.Timestamp("2020-01-01")
HOUR = pd.Timedelta(hours=1)
CODES = (
    *("boolean_value", "subject_id", "prediction", "prediction_time", "", " ", "a//b", "=1+1"),
    *("\u200b", "HR_count", "LACTATE_last_last", "row", "code", "x" * 300, "é", "e\u0301"),
)
NUMBERS = (np.nan, np.inf, -np.inf, 3e38, -1.0, 1e-45, 0.0)
TIMES = (pd.NaT, pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01"), START, START + 24 * HOUR)
TYPES = {
    "subject_id": (pa.int32(), pa.string(), pa.float64(), pa.uint64()),
    "time": (pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.date32(), pa.string()),
    "code": (
        pa.large_string(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.binary(),
        pa.string_view(),
    ),
    "numeric_value": (pa.float64(), pa.int32(), pa.string()),
    "prediction_time": (pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.string()),
    "boolean_value": (pa.int8(), pa.string(), pa.float32(), pa.null()),
}


def events(n: int = 80) -> pd.DataFrame:
    """Return events of n subjects, with one code of four subjects only."""
    draw, rows = np.random.default_rng(0), []
    for subject in range(n):
        rows.append((subject, pd.NaT, f"GENDER//{'FM'[subject % 2]}", np.nan))
        for hour in draw.choice(48, 4, replace=False):
            rows.append((subject, START + int(hour) * HOUR, "HR", 80 + 10 * draw.normal()))
        if subject % 3:
            rows.append((subject, START + 2 * HOUR, "LACTATE", 2 + draw.normal()))
        rows += [(subject, START, "LONE-CODE-77", 1.0)] * (subject < 4)
    return pd.DataFrame(rows, columns=["subject_id", "time", "code", "numeric_value"])


def labels(n: int = 80) -> pd.DataFrame:
    """Return the labels of n subjects."""
    died = np.random.default_rng(1).random(n) < 0.4
    at = [START + 24 * HOUR] * n
    return pd.DataFrame({"subject_id": range(n), "prediction_time": at, "boolean_value": died})


def fuzz_meds(work: Path, number: int) -> Row:
    """Give `deepcac meds`, and the reader of its table, mutants of shards and labels."""
    how = "types, empty cells, odd codes, numbers and times, doubled rows, lost and moved shards, bytes"
    return counted("MEDS folders", trials(partial(_trial, work), number), how)


def _trial(work: Path) -> Trial:
    whole, asked = events(), labels()

    def trial(i: int) -> tuple[str, ...]:
        draw = random.Random(i)
        folder = work / "meds"
        done = write_mutant(folder, whole, asked, draw)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        content = b"".join(str(p.relative_to(folder)).encode() + p.read_bytes() for p in files)
        told = tried(partial(_read, folder), f"MEDS: trial {i}, {done}")
        digest = hashlib.sha256(content).hexdigest()[:16]
        if i % EVERY:
            return told, digest
        page = work / "profile.html"
        page.unlink(missing_ok=True)
        described = tried(partial(_described, folder, page), f"MEDS: page {i}, {done}")
        leaks = lone_patients(page, ["LONE-CODE-77"]) if page.exists() else []
        if leaks:
            print(f"MEDS: page {i}, {done}: {leaks[:5]}", flush=True)
        return (LEAK if leaks else described if described == "tracebacks" else told), digest, PAGE

    return trial


def _read(folder: Path) -> bool:
    path, n = _converted(folder)
    outcome = Outcome(field="boolean_value")
    use = Use(outcome=outcome, id="prediction", patient="subject_id")
    table = read_labelled(described_table(path, use, rows=1000), rows=1000)
    X = table.features.X
    return bool(len(X) == table.total == n and not np.isinf(X).any())


def _described(folder: Path, page: Path) -> bool:
    path, _ = _converted(folder)
    write_profile_page(path, page, TableRun(str, command="profile"), label="boolean_value")
    return True


def _converted(folder: Path) -> tuple[Path, int]:
    path = folder.with_name("table.parquet")
    n, _ = write_meds_table(folder, folder / "task.parquet", path, say=str)
    return path, n


def write_mutant(
    folder: Path, whole: pd.DataFrame, asked: pd.DataFrame, draw: random.Random
) -> str:
    """Write a folder with a change or two; return what was done."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "data" / "train").mkdir(parents=True)
    frames = {"labels": asked.copy(), "a": whole[whole.subject_id % 2 == 0].copy()}
    frames["b"] = whole[whole.subject_id % 2 == 1].copy()
    types: dict[str, dict[str, pa.DataType]] = {name: {} for name in frames}
    done = [_change(frames, types, draw) for _ in range(draw.choice((1, 1, 2, 3)))]
    paths = {
        name: folder / "data" / "train" / f"{name}.parquet" for name in frames if name != "labels"
    }
    for name, path in (paths | {"labels": folder / "task.parquet"}).items():
        _write(path, frames[name], types[name])
    if draw.random() < 0.2:
        path = draw.choice([folder / "task.parquet", *paths.values()])
        path.write_bytes(mutant(path.read_bytes(), draw))
        done.append(f"bytes of {path.name}")
    return ", ".join(done)


def _change(
    frames: dict[str, pd.DataFrame], types: dict[str, dict[str, pa.DataType]], draw: random.Random
) -> str:
    name = draw.choice(list(frames))
    frame = frames[name]
    column = draw.choice(list(frame.columns) or ["code"])
    rows = draw.sample(range(len(frame)), min(len(frame), draw.choice((1, 3, 40))))
    way = draw.choice(
        ("type", "drop", "value", "value", "value", "double", "lose", "rename", "move")
    )
    match way:
        case "type":
            types[name][column] = draw.choice(TYPES.get(column, (pa.string(),)))
        case "drop":
            frames[name] = frame.drop(columns=[column] if column in frame else [])
        case "double":
            frames[name] = pd.concat([frame, frame.iloc[rows]])
        case "lose":
            frames[name] = frame.iloc[: draw.choice((0, 1, 5, len(frame) // 2))]
        case "rename":
            frames[name] = frame.rename(columns={column: draw.choice((*frame.columns, "x"))})
        case "move":
            other = draw.choice(list(frames))
            frames[name], frames[other] = frames[other], frames[name]
        case _ if column in frame and isinstance(frame[column], pd.Series):
            value = _value(column, draw)
            frames[name][column] = frame[column].astype(object)
            frames[name].iloc[rows, list(frame.columns).index(column)] = value
    return f"{way} of {column} in {name}"


def _value(column: str, draw: random.Random) -> Any:
    if column == "code":
        return draw.choice((*CODES, None))
    if column == "numeric_value":
        return draw.choice(NUMBERS)
    if column in ("time", "prediction_time"):
        return draw.choice(TIMES)
    return (
        draw.choice((None, 0, 1, -1, 2**62))
        if column == "subject_id"
        else draw.choice((None, True))
    )


def _write(path: Path, frame: pd.DataFrame, types: dict[str, pa.DataType]) -> None:
    """Write a frame with the types of MEDS, or those that a mutant asks for where they fit."""
    usual = {
        "subject_id": pa.int64(), "time": pa.timestamp("us"), "code": pa.string(),
        "numeric_value": pa.float32(), "prediction_time": pa.timestamp("us"),
        "boolean_value": pa.bool_(),
    }  # fmt: skip
    columns = []
    for place, name in enumerate(frame.columns):
        values = frame.iloc[:, place]
        try:
            column = pa.array(values, usual.get(name), from_pandas=name != "numeric_value")
        except (pa.ArrowException, TypeError, OverflowError):
            column = pa.array(values.astype(str))
        try:
            column = column.cast(types[name]) if name in types else column
        except pa.ArrowException:  # values of the one type that the other cannot hold
            column = pa.nulls(len(column), types[name])
        columns.append(column)
    table = pa.Table.from_arrays(columns, names=list(frame.columns))
    pq.write_table(table, path, write_page_checksum=True)
