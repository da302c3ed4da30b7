"""The files of a MEDS folder (schema 0.4), checked: events in shards, and the labels of a task."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from deepcac.errors import DataError
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.output_files import StrPath

SUBJECT, TIME, CODE, VALUE = EVENT_COLUMNS = ("subject_id", "time", "code", "numeric_value")
PREDICTED_AT, BOOLEAN = "prediction_time", "boolean_value"

_INSTANT = (pa.timestamp("us"),)
_SUBJECT = {SUBJECT: (pa.int64(),)}
_TEXT = (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))
_EVENTS = {**_SUBJECT, TIME: _INSTANT, CODE: _TEXT}
_NUMBERS = {VALUE: (pa.float32(),)}


def event_files(folder: StrPath) -> list[Path]:
    """Return the shards ``data/**/*.parquet`` of a MEDS folder, in order of their names.

    Raises
    ------
    DataError
        There is none, or a column is missing or of another type.
    """
    files = sorted((Path(folder) / "data").rglob("*.parquet"))
    if not files:
        raise DataError(f"{folder}: no MEDS folder; it has no data/**/*.parquet")
    for file in files:
        schema = _schema(file)
        _check_types(file, schema, _EVENTS)
        _check_types(file, schema, _NUMBERS if VALUE in schema.names else {})
    return files


def read_events(file: Path) -> pd.DataFrame:
    """Return subject, time (NaT where static), code and number (NaN where none) of a shard."""
    names = [name for name in EVENT_COLUMNS if name in _schema(file).names]
    table = _read(file, names)
    for name in (SUBJECT, CODE):
        if table[name].null_count:
            row = table[name].is_null().to_pylist().index(True) + 1
            raise DataError(f"{file}: column {name!r}, data row {row}: empty; MEDS needs a value")
    frame = table.to_pandas()
    # As a reader of tables writes names of columns: two spaces in a code are one, for example.
    plain = {code: uniform(code) for code in frame[CODE].unique()}
    frame[CODE] = frame[CODE].map(plain)
    return frame.assign(**{VALUE: frame[VALUE].astype(float) if VALUE in frame else float("nan")})


def label_files(path: StrPath) -> list[Path]:
    """Return the parquet files of labels: one, or those of a folder in order of their names."""
    return sorted(Path(path).rglob("*.parquet")) if Path(path).is_dir() else [Path(path)]


def read_labels(path: StrPath, label: str, *, known: bool = True) -> pd.DataFrame:
    """Return the labels of a task: subject, prediction time and, where there is one, the label.

    They are of a parquet file, or of a folder of such. Where the label need not be `known`, its
    column may be missing, or some of its cells.

    Raises
    ------
    DataError
        A column is missing or of another type, a cell is empty, or a subject stands twice at one
        time.
    """
    files = label_files(path)
    if not files or not files[0].is_file():
        raise DataError(f"{path}: no such file; labels of MEDS are a parquet file")
    parts = []
    for file in files:
        schema = _schema(file)
        outcome = {label: ()} if known or label in schema.names else {}
        _check_types(file, schema, _SUBJECT | {PREDICTED_AT: _INSTANT} | outcome)
        parts.append(_read(file, [*_SUBJECT, PREDICTED_AT, *({label} & set(schema.names))]))
    if len({tuple(part.column_names) for part in parts}) > 1:
        raise DataError(f"{path}: column {label!r} stands in some of its files only")
    table = pa.concat_tables(parts)
    for name in table.column_names:
        if table[name].null_count and (known or name != label):
            row = table[name].is_null().to_pylist().index(True) + 1
            raise DataError(f"{path}: column {name!r}, data row {row}: empty; fill it in")
    frame = table.to_pandas()
    if not len(frame):
        raise DataError(f"{path}: holds no rows")
    again = frame.duplicated([SUBJECT, PREDICTED_AT]).to_numpy()
    if again.any():
        row = int(again.argmax())
        raise DataError(
            f"{path}: data row {row + 1}: subject {frame[SUBJECT][row]} stands at "
            f"{frame[PREDICTED_AT][row]} already; keep one row a subject and time"
        )
    if label in frame:  # of the type that it has in the file, also where cells are empty
        frame[label] = pd.arrays.ArrowExtensionArray(table[label])
    return frame


def _schema(file: Path) -> pa.Schema:
    try:
        return pq.read_schema(file)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{file}: not readable as parquet") from error


def _read(file: Path, columns: list[str]) -> pa.Table:
    try:
        return pq.ParquetFile(file, page_checksum_verification=True).read(columns)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{file}: not readable as parquet") from error


def _check_types(
    file: Path, schema: pa.Schema, wanted: Mapping[str, tuple[pa.DataType, ...]]
) -> None:
    """Refuse a file without one of the columns, or with another type where types are named."""
    for name, kinds in wanted.items():
        if schema.names.count(name) > 1:
            raise DataError(f"{file}: column {name!r} stands twice; keep one")
        if name not in schema.names:
            listed = ", ".join(schema.names[:20])
            raise DataError(f"{file}: no column {name!r}; there are {listed}")
        if kinds and schema.field(name).type not in kinds:
            raise DataError(
                f"{file}: column {name!r} is of type {schema.field(name).type}, MEDS has "
                f"{kinds[0]}; cast it"
            )
