"""The event files of PhysioNet Challenge 2012: all files of an archive parsed at once.

A file ``set-x/RECORD.txt`` is one ICU stay: lines ``HH:MM,Parameter,Value`` from its first 48
hours (Silva et al., Computing in Cardiology 2012). In set c, 2,403 lines have no parameter name;
these events are kept with a null name, because the files do not show what was measured.
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

from deepcac.errors import DataError
from deepcac_study.raw.archive import members
from deepcac_study.sources.physionet2012_scan import scan

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
_TIME = re.compile(r"(\d\d):([0-5]\d)", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAMES = (*PARAMETERS, "RecordID", "")
_RECORD_ID, _NAMELESS = len(PARAMETERS), len(PARAMETERS) + 1


@dataclass(frozen=True)
class _Lines:
    """The data lines of the n files of one archive, in ascending order of the record.

    `archive` is its path, for messages; each of `bodies` is a file without its header line.
    `start`, of shape (n + 1,), has the index of each file's first line, and the number of lines.
    """

    archive: str
    record_id: npt.NDArray[np.int32]
    names: list[str]
    bodies: list[bytes]
    start: npt.NDArray[np.int64]

    def fail(self, line: int, problem: str) -> NoReturn:
        """Raise a `DataError` that names file and line, by the index among all lines."""
        file = int(np.searchsorted(self.start, line, side="right")) - 1
        here = line - int(self.start[file])
        text = self.text(line)[:80]
        raise DataError(f"{self.archive}: {self.names[file]} line {here + 2} ({text!r}): {problem}")

    def text(self, line: int) -> str:
        """Return the text of a line by its index among all lines."""
        file = int(np.searchsorted(self.start, line, side="right")) - 1
        here = line - int(self.start[file])
        return self.bodies[file].split(b"\n")[here].decode("utf-8", "replace")

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
        if (at := content.find(b"\r")) >= 0:
            line = content.count(b"\n", 0, at) + 1
            raise DataError(f"{archive}: {name} line {line} has a carriage return")
        record_id = int(match[1])
        if record_id in bodies:
            raise DataError(
                f"{archive}: record {record_id} occurs twice, the second time as {name}"
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


def _read_line(lines: _Lines, line: int) -> tuple[int, int, float]:
    """Parse a line that the compiled scan skipped; `DataError` with the reason if it is invalid."""
    fields = lines.text(line).split(",")
    if len(fields) != 3:
        lines.fail(line, f"{len(fields)} fields; Time,Parameter,Value was expected")
    time = _TIME.fullmatch(fields[0])
    if time is None:
        lines.fail(line, f"the time is not HH:MM between 00:00 and {HOURS}:00")
    if fields[1] not in _NAMES:
        lines.fail(line, "unknown parameter name")
    if _NUMBER.fullmatch(fields[2]) is None or not isfinite(float(fields[2])):
        lines.fail(line, "the value is not a number")
    return 60 * int(time[1]) + int(time[2]), _NAMES.index(fields[1]), float(fields[2])


def _columns(
    lines: _Lines,
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8], npt.NDArray[np.float64]]:
    """Return minute, position in `_NAMES` and value of every line."""
    minute, code, value, ordinary = scan(b"".join(lines.bodies), int(lines.start[-1]), _NAMES)
    for line in np.flatnonzero(~ordinary).tolist():
        minute[line], code[line], value[line] = _read_line(lines, line)
    lines.check(minute > 60 * HOURS, f"the time is not HH:MM between 00:00 and {HOURS}:00")
    return minute, code, value


def parse_set(archive: _Path, files: Iterable[tuple[str, bytes]]) -> pa.Table:
    """Parse the files of one set, as `deepcac_study.raw.archive.members` yields them.

    Columns: ``record_id`` int32, ``minute`` int16 since admission, ``parameter`` dictionary over
    `PARAMETERS` (null where the file names none), ``value`` float64 in the file's unit. Records
    ascend; within a record the lines keep the file's order. A file or line that is not in the
    format is a `DataError` that names both.
    """
    lines = _read_lines(archive, files)
    empty = np.flatnonzero(np.diff(lines.start) == 0)
    if len(empty):
        raise DataError(f"{archive}: {lines.names[empty[0]]} has no line after its header")
    minute, code, value = _columns(lines)
    first = np.zeros(len(minute), dtype=bool)
    first[lines.start[:-1]] = True
    lines.check((code == _RECORD_ID) != first, "RecordID must be in the first line, and only there")
    record = np.repeat(lines.record_id, np.diff(lines.start))
    lines.check(first & (value != record), "RecordID is not the number in the file's name")
    lines.check((code < len(DESCRIPTORS)) & (minute > 0), "a descriptor after 00:00")
    lines.check(np.diff(minute, prepend=0) * ~first < 0, "the time goes back")
    events = ~first
    names = pa.array(PARAMETERS, pa.string())
    index = pa.array(code[events], mask=code[events] == _NAMELESS)
    return pa.table(
        {
            "record_id": record[events],
            "minute": minute[events],
            "parameter": pa.DictionaryArray.from_arrays(index, names),
            "value": value[events],
        }
    )


def read_set(archive: _Path) -> pa.Table:
    """Parse one ``set-x.archive`` to the table of `parse_set`."""
    return parse_set(archive, members(archive))
