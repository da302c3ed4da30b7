"""Tables that statistics programs and data libraries write: Stata, SPSS, SAS, feather, JSON."""

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
from pyarrow import feather

from deepcac.errors import DataError
from deepcac.files.limits import check_bytes, check_cells
from deepcac.files.output_files import StrPath
from deepcac.table.reading.packed_files import damage_as_data_error

BLOCK_ROWS = 1 << 15
_SMALLER = "save fewer rows or columns"
Source = StrPath | IO[bytes]


def table_blocks(path: StrPath, source: Source, kind: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file of one of `READERS`; a damaged one is a `DataError`."""
    with warnings.catch_warnings(), damage_as_data_error(path, kind[1:]):
        warnings.simplefilter("ignore")  # of readers, on files that they go on to refuse
        table = READERS[kind](source)
    yield from table.to_batches(max_chunksize=BLOCK_ROWS)


def _statistics(source: Source, reader: str, **options: Any) -> pa.Table:
    """Read a file by a function of pyreadstat, which takes paths only."""
    import pyreadstat

    if not isinstance(source, (str, os.PathLike)):
        with tempfile.NamedTemporaryFile() as copy:
            copy.write(source.read())
            copy.flush()
            return _statistics(copy.name, reader, **options)
    read, name = getattr(pyreadstat, reader), os.fspath(source)
    about = read(name, metadataonly=True)[1]
    check_bytes("it", 8 * (about.number_rows or 0) * about.number_columns, _SMALLER)
    return _arrow(read(name, **options)[0])


def _json(source: Source, *, by_line: bool = False) -> pa.Table:
    """Read a list of flat objects, or one object per line; a line may be the only one."""
    read = source.read if hasattr(source, "read") else Path(source).read_bytes
    text = read().decode("utf-8-sig")
    try:
        rows: Any = json.loads(text)
    except ValueError:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    rows = [rows] if by_line and isinstance(rows, dict) else rows
    if isinstance(rows, dict):
        raise DataError("is one JSON object; a list of rows is expected, each {column: value}")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError("is no list of rows; each must be {column: value}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_cells("holds too much", len(rows), len(names), "save the table as CSV or parquet")
    return pa.table({name: _json_column(name, [row.get(name) for row in rows]) for name in names})


def _json_column(name: str, values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds & {dict, list}:
        raise DataError(f"column {name!r} holds lists or objects; a cell is a number or a text")
    if kinds <= {int, float} or len(kinds) <= 1:
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as arrow has it; categories are text, whole numbers have no decimals."""
    for name in frame.select_dtypes("category"):
        column = frame[name].astype(object)
        texts = column.map(lambda value: isinstance(value, str)).any()
        frame[name] = column.map(_as_text, na_action="ignore") if texts else column
    return pa.Table.from_pandas(frame, preserve_index=False)


def _as_text(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _feather(source: Source) -> pa.Table:
    options = pa.ipc.IpcReadOptions(included_fields=[0])  # rows are counted in one column
    try:
        with pa.ipc.open_file(source, options=options) as reader:
            rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
        with pa.ipc.open_file(source) as whole:
            check_bytes("it", rows * sum(map(_width, whole.schema.types)), _SMALLER)
    except pa.ArrowInvalid:
        pass  # of the first version, which is not packed, or damaged
    table = feather.read_table(source)
    table.validate(full=True)  # a place beyond the end of a buffer would end the process
    return table


def _width(kind: pa.DataType) -> int:
    """Return the bytes that a cell has at least."""
    try:
        return max(kind.bit_width // 8, 1)
    except ValueError:  # of texts and lists
        return 4


_labelled = partial(_statistics, apply_value_formats=True)
_json_lines = partial(_json, by_line=True)
READERS: dict[str, Callable[[Source], pa.Table]] = {
    **dict.fromkeys((".feather", ".arrow"), _feather),
    ".dta": partial(_labelled, reader="read_dta"),
    **dict.fromkeys((".sav", ".zsav"), partial(_labelled, reader="read_sav")),
    ".xpt": partial(_statistics, reader="read_xport"),
    ".sas7bdat": partial(_statistics, reader="read_sas7bdat"),
    ".json": _json,
    **dict.fromkeys((".jsonl", ".ndjson"), _json_lines),
}
