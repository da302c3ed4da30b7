"""The event files of PhysioNet Challenge 2012: all files of an archive parsed at once.

A file ``set-x/RECORD.txt`` is one ICU stay: lines ``HH:MM,Parameter,Value`` from its first 48
hours (Silva et al., Computing in Cardiology 2012). Set c names no parameter in 2,403 lines; those
events are kept with a null name, because nothing in the files says what was measured.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from deepcac.errors import DataError
from deepcac.sources.archive import members

HEADER = b"Time,Parameter,Value\n"
HOURS = 48
DESCRIPTORS = ("Age", "Gender", "Height", "ICUType")  # at 00:00 only; Weight is also charted later
PARAMETERS = (
    *DESCRIPTORS,
    *("ALP", "ALT", "AST", "Albumin", "BUN", "Bilirubin", "Cholesterol", "Creatinine", "DiasABP"),
    *("FiO2", "GCS", "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "MAP", "MechVent", "Mg"),
    *("NIDiasABP", "NIMAP", "NISysABP", "Na", "PaCO2", "PaO2", "Platelets", "RespRate", "SaO2"),
    *("SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC", "Weight", "pH"),
)
_Path = str | os.PathLike[str]
_MEMBER = re.compile(r"(?:.*/)?(\d{1,9})\.txt")
_TIME = re.compile(r"(\d\d):([0-5]\d)")
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class _Lines:
    """The data lines of the files of one archive, in ascending order of the record.

    Attributes
    ----------
    archive : str
        Path, for messages.
    record_id : ndarray of shape (n,), int32
        Record of each file, from its name.
    names : list of str
        Member names.
    bodies : list of bytes
        Each file without its header line.
    start : ndarray of shape (n + 1,), int64
        Position of each file's first line among all lines, and the number of lines.
    """

    archive: str
    record_id: npt.NDArray[np.int32]
    names: list[str]
    bodies: list[bytes]
    start: npt.NDArray[np.int64]

    def fail(self, line: int, problem: str) -> NoReturn:
        """Raise a `DataError` about one of all lines, counted from 0."""
        file = int(np.searchsorted(self.start, line, side="right")) - 1
        here = line - int(self.start[file])
        text = self.bodies[file].split(b"\n")[here].decode("utf-8", "replace")
        raise DataError(
            f"{self.archive}: {self.names[file]} line {here + 2} ({text[:80]!r}): {problem}"
        )

    def check(self, bad: npt.NDArray[np.bool_], problem: str) -> None:
        """Fail at the first line that is `bad`, of shape (lines,)."""
        if bad.any():
            self.fail(int(bad.argmax()), problem)


def _read_lines(archive: _Path, files: Iterable[tuple[str, bytes]]) -> _Lines:
    """Collect the files of one archive, and check names, headers and line ends."""
    bodies: dict[int, tuple[str, bytes]] = {}
    for name, content in files:
        match = _MEMBER.fullmatch(name)
        if match is None:
            raise DataError(f"{archive}: {name!r} is not RECORD.txt with a number as RECORD")
        if not content.startswith(HEADER):
            first = content.partition(b"\n")[0][:80]
            raise DataError(
                f"{archive}: {name} line 1 is {first!r}; {HEADER.strip().decode()!r} was expected"
            )
        if not content.endswith(b"\n"):
            raise DataError(f"{archive}: {name} ends inside a line; the file is cut off")
        record_id = int(match[1])
        if record_id in bodies:
            raise DataError(
                f"{archive}: record {record_id} stands twice, the second time as {name}"
            )
        bodies[record_id] = name, content[len(HEADER) :]
    if not bodies:
        raise DataError(f"{archive}: holds no file; delete it and fetch it again")
    ordered = sorted(bodies)
    texts = [bodies[record_id][1] for record_id in ordered]
    counts = [text.count(b"\n") for text in texts]
    return _Lines(
        archive=str(archive),
        record_id=np.array(ordered, dtype=np.int32),
        names=[bodies[record_id][0] for record_id in ordered],
        bodies=texts,
        start=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
    )


def _split(lines: _Lines) -> pa.Table:
    """Parse all lines of an archive at once into columns time, parameter and value."""
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(b"".join(lines.bodies)),
            read_options=pa.csv.ReadOptions(column_names=["time", "parameter", "value"]),
            parse_options=pa.csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=pa.csv.ConvertOptions(
                column_types={"time": _TEXT, "parameter": _TEXT, "value": pa.float64()},
                null_values=[],
            ),
        )
    except pa.ArrowInvalid as error:
        _explain(lines)
        raise DataError(f"{lines.archive}: cannot be parsed ({error})") from error
    if table.num_rows != lines.start[-1]:
        raise DataError(f"{lines.archive}: a line has a carriage return; lines must end in \\n")
    return table.unify_dictionaries().combine_chunks()


def _explain(lines: _Lines) -> None:
    """Go line by line through what the parser refused, and fail at the first faulty line."""
    for file, body in enumerate(lines.bodies):
        for here, line in enumerate(body.split(b"\n")[:-1]):
            fields = line.split(b",")
            position = int(lines.start[file]) + here
            if len(fields) != 3:
                lines.fail(position, f"{len(fields)} fields; Time,Parameter,Value was expected")
            try:
                line.decode("utf-8")
                finite = isfinite(float(fields[2]))
            except ValueError:
                finite = False
            if not finite:
                lines.fail(position, "the value is not a number")


def _minutes(lines: _Lines, column: pa.DictionaryArray) -> npt.NDArray[np.int16]:
    """Turn ``HH:MM`` into minutes since admission; each distinct time is read once."""
    minute = np.full(len(column.dictionary), -1, dtype=np.int16)
    for i, text in enumerate(column.dictionary.to_pylist()):
        if (match := _TIME.fullmatch(text)) is not None:
            minute[i] = 60 * int(match[1]) + int(match[2])
    minute[minute > 60 * HOURS] = -1
    result = minute[column.indices.to_numpy()]
    lines.check(result < 0, f"the time is not HH:MM between 00:00 and {HOURS}:00")
    back = np.zeros(len(result), dtype=bool)
    back[1:] = result[1:] < result[:-1]
    back[lines.start[:-1]] = False
    lines.check(back, "the time goes back")
    return result


def _codes(
    lines: _Lines, column: pa.DictionaryArray, records: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int8]:
    """Turn parameter names into positions in `PARAMETERS`, and no name into -1."""
    known = {name: code for code, name in enumerate(PARAMETERS)} | {"": -1, "RecordID": -2}
    names = column.dictionary.to_pylist()
    code = np.array([known.get(name, -3) for name in names], dtype=np.int8)
    result = code[column.indices.to_numpy()]
    lines.check(result == -3, "unknown parameter name")
    lines.check((result == -2) != records, "RecordID stands in the first line, and only there")
    return result


def parse_set(archive: _Path, files: Iterable[tuple[str, bytes]]) -> pa.Table:
    """Parse the files of one set.

    Parameters
    ----------
    archive : path-like
        Where the files come from, for messages.
    files : iterable of (str, bytes)
        Member name and content, as `deepcac.sources.archive.members` yields them.

    Returns
    -------
    pyarrow.Table
        ``record_id`` int32, ``minute`` int16 since admission, ``parameter`` dictionary over
        `PARAMETERS` (null where the file names none), ``value`` float64 in the file's unit. Records
        ascend; within a record the lines keep the file's order.

    Raises
    ------
    DataError
        A file or line is not in the format; the message names both.
    """
    lines = _read_lines(archive, files)
    empty = np.flatnonzero(np.diff(lines.start) == 0)
    if len(empty):
        raise DataError(f"{archive}: {lines.names[empty[0]]} has no line after its header")
    table = _split(lines)
    value = table["value"].to_numpy()
    lines.check(~np.isfinite(value), "the value is not a number")
    first = np.zeros(len(value), dtype=bool)
    first[lines.start[:-1]] = True
    minute = _minutes(lines, table["time"].chunk(0))
    code = _codes(lines, table["parameter"].chunk(0), first)
    record = np.repeat(lines.record_id, np.diff(lines.start))
    lines.check(first & (value != record), "RecordID is not the number in the file's name")
    lines.check((code >= 0) & (code < len(DESCRIPTORS)) & (minute > 0), "a descriptor after 00:00")
    kept = ~first
    names = pa.array(PARAMETERS, pa.string())
    index = pa.array(code[kept], mask=code[kept] < 0)
    return pa.table(
        {
            "record_id": record[kept],
            "minute": minute[kept],
            "parameter": pa.DictionaryArray.from_arrays(index, names),
            "value": value[kept],
        }
    )


def read_set(archive: _Path) -> pa.Table:
    """Stream one ``set-x.archive`` into the table of `parse_set`."""
    return parse_set(archive, members(archive))
