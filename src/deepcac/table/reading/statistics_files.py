"""Tables that statistics programs and data libraries write: Stata, SPSS, SAS, feather, JSON."""

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather

from deepcac.errors import DataError
from deepcac.table.limits import check_bytes, check_cells
from deepcac.table.output_files import StrPath

BLOCK_ROWS = 1 << 15
_SMALLEST = 1e-70  # SAS has nothing smaller: pandas reads its 0 as 5.4e-79
_SMALLER = "save fewer rows or columns"
Source = StrPath | IO[bytes]


def table_blocks(path: StrPath, source: Source, kind: str) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file of one of `READERS`.

    Raises
    ------
    DataError
        It is damaged, or a package is missing that reads it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of readers, on files that they go on to refuse
            table = READERS[kind](source)
    except ImportError as error:
        raise DataError(
            f"{path}: reading it needs another package ({error.name or error}): pip install "
            f"{error.name or 'pyreadstat'}, or save the table as CSV"
        ) from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except Exception as error:  # readers raise whatever a damaged part leads them to
        raise DataError(f"{path}: not readable as {kind[1:]} ({_first_line(error)})") from error
    yield from table.to_batches(max_chunksize=BLOCK_ROWS)


def _stata(source: Source) -> pa.Table:
    try:
        frame = pd.read_stata(source)
    except ValueError as error:
        # Labels that stand for two values cannot be a category of pandas.
        if "label" not in str(error).lower():
            raise
        frame = _read_stat(source, "read_dta", apply_value_formats=True)
    return _arrow(frame)


def _spss(source: Source) -> pa.Table:
    return _arrow(_read_stat(source, "read_sav", apply_value_formats=True))


def _read_stat(source: Source, how: str, **options: Any) -> pd.DataFrame:
    """Read a file by a function of pyreadstat, which takes paths only."""
    import pyreadstat

    if not isinstance(source, (str, os.PathLike)):
        with tempfile.NamedTemporaryFile() as copy:
            source.seek(0)  # another reader may have begun
            copy.write(source.read())
            copy.flush()
            return _read_stat(copy.name, how, **options)
    read, name = getattr(pyreadstat, how), os.fspath(source)
    about = read(name, metadataonly=True)[1]
    check_bytes("it", 8 * (about.number_rows or 0) * about.number_columns, _SMALLER)
    frame: pd.DataFrame = read(name, **options)[0]
    return frame


def _xport(source: Source) -> pa.Table:
    return _with_zeros(_read_stat(source, "read_xport"))  # pandas takes dates for numbers


def _sas(source: Source) -> pa.Table:
    try:
        reader: Any
        with pd.read_sas(source, format="sas7bdat", encoding="utf-8", iterator=True) as reader:
            check_bytes("it", 8 * reader.row_count * reader.column_count, _SMALLER)
            return _with_zeros(reader.read())
    except ValueError:
        return _with_zeros(_read_stat(source, "read_sas7bdat"))


def _with_zeros(frame: pd.DataFrame) -> pa.Table:
    for name in frame.select_dtypes("number"):
        values = frame[name].to_numpy(dtype=np.float64)
        frame[name] = np.where(np.abs(values) < _SMALLEST, 0.0, values)
    return _arrow(frame)


def _json(source: Source, *, by_line: bool = False) -> pa.Table:
    """Read a list of flat objects, or one object per line; a line may be the only one."""
    if hasattr(source, "read"):
        text = source.read().decode("utf-8-sig")
    else:
        with open(source, encoding="utf-8-sig") as file:
            text = file.read()
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
    if any(isinstance(value, (dict, list)) for value in values):
        raise DataError(f"column {name!r} holds lists or objects; a cell is a number or a text")
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _arrow(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as arrow has it; categories are text, whole numbers have no decimals."""
    for name in frame:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            frame[name] = frame[name].astype(object)
            texts = [value for value in frame[name].dropna().unique() if isinstance(value, str)]
            if texts:
                frame[name] = frame[name].map(_as_text, na_action="ignore")
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


READERS: dict[str, Callable[[Source], pa.Table]] = {
    ".feather": _feather,
    ".arrow": _feather,
    ".dta": _stata,
    ".sav": _spss,
    ".zsav": _spss,
    ".xpt": _xport,
    ".sas7bdat": _sas,
    ".json": _json,
    ".jsonl": lambda source: _json(source, by_line=True),
    ".ndjson": lambda source: _json(source, by_line=True),
}


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
