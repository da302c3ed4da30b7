"""Columns of every arrow type with odd values, in every role of a table: read, or one clear line."""

import datetime
import decimal
import hashlib
import random
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from children import Trial, counted, trials, tried
from own_tables import EVERY, page_tried, patients
from project import Row
from pyarrow import feather

from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.labelled_table import described_table, read_labelled
from deepcac.table.risk_tables import fit_table, predict_table

USE = ("feature", "feature", "id", "group", "label", "time", "drop", "competing")
_DAY = datetime.datetime(2020, 1, 2, 3, 4, 5)
VALUES: dict[pa.DataType, Sequence[Any]] = {
    **{pa.int8(): (0, 1, 127), pa.int16(): (0, -9), pa.int32(): (0, 1, -(2**31))},
    **{pa.int64(): (0, 1, 2**62), pa.uint8(): (0, 1, 255), pa.uint64(): (0, 1, 2**64 - 1)},
    pa.float32(): (0.5, 1.0, float("nan"), 3e38),
    pa.float64(): (0.5, 1.0, float("inf"), 5e-324, 1e308),
    **{pa.bool_(): (True, False), pa.null(): (None,)},
    pa.string(): ("a", "b", "", "1", "1.5", "nan", "True", "é", "e\u0301", "=1", "\u200b"),
    **{pa.large_string(): ("a", "1"), pa.string_view(): ("a", "1", "a long text beyond twelve")},
    **{pa.binary(): (b"a", b"\xff"), pa.large_binary(): (b"a",), pa.binary(2): (b"ab",)},
    pa.binary_view(): (b"a", b"\xff\xfe"),
    pa.decimal128(8, 2): (decimal.Decimal("1.25"), decimal.Decimal("-9.00")),
    pa.decimal256(50, 0): (decimal.Decimal(10) ** 49, decimal.Decimal(1)),
    **{pa.date32(): (_DAY.date(),), pa.date64(): (_DAY.date(),)},
    **{pa.timestamp(unit): (_DAY,) for unit in ("s", "ms", "us", "ns")},
    **{pa.timestamp("us", "Europe/Berlin"): (_DAY,), pa.time32("s"): (_DAY.time(),)},
    **{pa.time64("us"): (_DAY.time(),), pa.duration("s"): (datetime.timedelta(days=1),)},
    pa.month_day_nano_interval(): (pa.MonthDayNano([1, 2, 3]),),
    **{pa.list_(pa.int8()): ([1], [], None), pa.large_list(pa.string()): (["a"],)},
    pa.list_(pa.float32(), 2): ([1.0, 2.0],),
    pa.struct([("a", pa.int8())]): ({"a": 1}, {"a": None}),
    pa.map_(pa.string(), pa.int8()): ([("a", 1)], []),
    pa.dictionary(pa.int8(), pa.string()): ("a", "b", "1"),
    pa.dictionary(pa.int32(), pa.float64()): (1.0, 2.5),
}  # fmt: skip


def _plain(kind: pa.DataType, draw: random.Random, n: int) -> pa.Array:
    values = [*VALUES[kind], None]
    few = draw.sample(values, draw.randrange(1, len(values) + 1))
    return pa.array([draw.choice(few) for _ in range(n)], kind)


def _half(draw: random.Random, n: int) -> pa.Array:
    import numpy as np

    return pa.array(
        np.array([draw.choice((0.5, 1.0, 65504.0)) for _ in range(n)], dtype=np.float16)
    )


def _uuids(draw: random.Random, n: int) -> pa.Array:
    values = [uuid.UUID(int=draw.choice((i, 1))).bytes for i in range(n)]
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))


def _json(draw: random.Random, n: int) -> pa.Array:
    values = [draw.choice(('{"a": 1}', "1", "null")) for _ in range(n)]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(values))


def _bool8(draw: random.Random, n: int) -> pa.Array:
    values = pa.array([draw.choice((0, 1, None)) for _ in range(n)], pa.int8())
    return pa.ExtensionArray.from_storage(pa.bool8(), values)


def _tensor(draw: random.Random, n: int) -> pa.Array:
    storage = pa.array([[1.0, 2.0]] * n, pa.list_(pa.float64(), 2))
    return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float64(), (2,)), storage)


def _union(draw: random.Random, n: int) -> pa.Array:
    kinds = pa.array([draw.randrange(2) for _ in range(n)], pa.int8())
    return pa.UnionArray.from_sparse(kinds, [pa.array(range(n)), pa.array(["a"] * n)])


def _runs(draw: random.Random, n: int) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays([n // 2, n], [draw.choice((1.0, None)), 2.0])


def _long_dictionary(draw: random.Random, n: int) -> pa.Array:
    """Return a dictionary with a null, a double and an unused value."""
    places = pa.array([draw.choice((0, 1, 2, None)) for _ in range(n)], pa.int8())
    return pa.DictionaryArray.from_arrays(places, pa.array(["a", None, "a", "unused"]))


MAKERS: dict[str, Callable[[random.Random, int], pa.Array]] = {
    **{str(kind): partial(_plain, kind) for kind in VALUES},
    **{"float16": _half, "uuid": _uuids, "json": _json, "bool8": _bool8, "tensor": _tensor},
    **{"union": _union, "run ends": _runs, "dictionary with a null": _long_dictionary},
}


def fuzz_types(work: Path, numbers: range) -> Row:
    """Read, predict and describe tables with columns of odd types."""
    patients().to_csv(work / "start.csv", index=False)
    fit_table(
        described_table(work / "start.csv", Use(outcome=Outcome(field="died"), id="patient")),
        work / "model.json",
        TableRun(len, rows=1000, jobs=1),
        method="plain",
    )
    how = f"{len(MAKERS)} types, in parquet and feather, as {', '.join(dict.fromkeys(USE))}"
    return counted("own table: arrow types", trials(partial(_trial, work), numbers), how)


def _trial(work: Path) -> Trial:
    frame = patients()
    secrets = [*frame["patient"], f"{frame['crp'].max():g}"]
    whole = pa.Table.from_pandas(frame, preserve_index=False)

    def trial(i: int) -> tuple[str, ...]:
        draw = random.Random(i)
        table, use, named = _odd(whole, draw)
        path = work / f"t.{draw.choice(('parquet', 'feather'))}"
        path.unlink(missing_ok=True)
        digest = hashlib.sha256(f"{named} {path.suffix} {table.to_pylist()}".encode()).hexdigest()[
            :16
        ]
        try:
            (pq.write_table if path.suffix == ".parquet" else feather.write_feather)(table, path)
        except (pa.ArrowException, ValueError, TypeError):  # no such file can be written
            path = path.with_suffix(".parquet")
            pq.write_table(whole, path)
        told = tried(partial(_read, work, path, use), f"arrow: trial {i}, {named}"), digest
        return page_tried(path, work, secrets, told) if i % EVERY == 0 else told

    return trial


def _odd(whole: pa.Table, draw: random.Random) -> tuple[pa.Table, Use, str]:
    """Return a table with odd columns, their use, and what was done."""
    outcome, lines = Outcome(field="died"), dict[str, Any](id="patient")
    done = []
    for _ in range(draw.choice((1, 1, 2))):
        kind, role = draw.choice(list(MAKERS)), draw.choice(USE)
        column = MAKERS[kind](draw, whole.num_rows)
        places = {"feature": draw.choice(("age", "ward", "odd")), "label": "died", "id": "patient"}
        name = places.get(role, role)
        whole = _with(whole, name, column)
        if role == "group":
            lines["patient"] = role
        if role == "drop":
            lines["leave_out"] = {role: "as asked for"}
        if role in ("time", "competing"):
            whole = _with(whole, "time", column)
            outcome = Outcome(field="died", time="time", horizon=1.0)
        done.append(f"{kind} as {role}")
    return whole, Use(outcome=outcome, **lines), ", ".join(done)


def _with(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def _read(work: Path, path: Path, use: Use) -> bool:
    """Fit's reader and predict; either may refuse, and then the whole is refused."""
    n = predict_table(work / "model.json", path, work / "risk.csv", say=len, accept=True)
    risks = pd.read_csv(work / "risk.csv")["risk"]
    table = read_labelled(described_table(path, use, rows=1000), rows=1000)
    return bool(n == table.total == len(risks) and risks.between(0, 1).all())
