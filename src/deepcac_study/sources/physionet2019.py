"""PhysioNet/Computing in Cardiology Challenge 2019: hourly records of ICU stays, for sepsis.

Two archives (hospital systems A and B) have one pipe-separated file per patient: a header and one
row per hour with 8 vital signs, 26 laboratory values, 6 demographic columns and ``SepsisLabel``,
which becomes 1 six hours before the onset of sepsis (Reyna et al. 2019). They become one table.
"""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.raw.archive import members

VITALS = ("HR", "O2Sat", "Temp", "SBP", "MAP", "DBP", "Resp", "EtCO2")
LABS = (
    *("BaseExcess", "HCO3", "FiO2", "pH", "PaCO2", "SaO2", "AST", "BUN", "Alkalinephos"),
    *("Calcium", "Chloride", "Creatinine", "Bilirubin_direct", "Glucose", "Lactate"),
    *("Magnesium", "Phosphate", "Potassium", "Bilirubin_total", "TroponinI", "Hct", "Hgb"),
    *("PTT", "WBC", "Fibrinogen", "Platelets"),
)
DEMOGRAPHICS = ("Age", "Gender", "Unit1", "Unit2", "HospAdmTime", "ICULOS")
VARIABLES = (*VITALS, *LABS)
COLUMNS = (*VARIABLES, *DEMOGRAPHICS, "SepsisLabel")
HEADER = "|".join(COLUMNS).encode()
LABEL_LEAD_HOURS = 6

_PATIENT_FILE = re.compile(r"(?:.*/)?p(\d{6})\.psv", re.ASCII)
_BATCH_BYTES = 1 << 25
_TYPES = dict.fromkeys(COLUMNS, pa.float64()) | {"ICULOS": pa.int16(), "SepsisLabel": pa.int8()}


def extract(archives: Mapping[str, str | os.PathLike[str]], tidy: str | os.PathLike[str]) -> None:
    """Write the archives, given by hospital system, as one tidy hourly table.

    It has ``patient_id``, ``hour`` (row of the stay, from 0), ``hospital`` and the columns of the
    files, ordered by patient and hour; missing values are null. A file that is not in the
    challenge's format, or a repeated patient, is a `DataError`.
    """
    write_table(tidy, read_archives(archives))


def read_archives(archives: Mapping[str, str | os.PathLike[str]]) -> pa.Table:
    """Read the archives into the table that `extract` writes."""
    batches = (batch for hospital, path in archives.items() for batch in _batches(path, hospital))
    # One thread parses while this one unpacks: both spend their time outside the interpreter.
    with ThreadPoolExecutor(max_workers=1) as parser:
        table = pa.concat_tables(parser.map(_read_batch, batches))
    patient_id = table["patient_id"].to_numpy()
    step = np.diff(patient_id)
    if (step < 0).any():
        table = table.take(pa.array(np.argsort(patient_id, kind="stable")))
        step = np.diff(np.sort(patient_id))
    hour = table["hour"].to_numpy()
    # Files of one patient begin at hour 0 each: a second one restarts the hours.
    twice = (step == 0) & (np.diff(hour) != 1)
    if twice.any():
        patient = table["patient_id"][int(twice.argmax())].as_py()
        raise DataError(f"patient p{patient:06d} is in two files; remove one of them")
    return table


@dataclass
class _Batch:
    """Some files of one archive: their rows as text, and how many rows each has."""

    path: str
    hospital: str
    names: list[str] = field(default_factory=list)
    bodies: list[memoryview] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    size: int = 0


def _batches(path: str | os.PathLike[str], hospital: str) -> Iterator[_Batch]:
    """Yield the files of an archive in batches of about `_BATCH_BYTES`."""
    batch = _Batch(str(path), hospital)
    empty = True
    for name, data in members(path):
        if not name.endswith(".psv"):
            continue
        empty = False
        batch.names.append(name)
        batch.bodies.append(_body(f"{path}: {name}", data))
        batch.n_rows.append(data.count(b"\n") - 1)
        batch.size += len(data)
        if batch.size >= _BATCH_BYTES:
            yield batch
            batch = _Batch(str(path), hospital)
    if empty:
        raise DataError(f"{path}: holds no .psv file; expected training set {hospital}")
    if batch.names:
        yield batch


def _body(place: str, data: bytes) -> memoryview:
    """Return the rows below the header of one file."""
    header, line_end, _ = data[: len(HEADER) + 2].partition(b"\n")
    if not data.strip():
        raise DataError(f"{place}: empty file; fetch the archive again")
    if not line_end or header.rstrip(b"\r") != HEADER:
        raise DataError(
            f"{place}: the header is {header[:40]!r}..., expected {HEADER[:16]!r}... with "
            f"{len(COLUMNS)} names divided by '|'"
        )
    body = memoryview(data)[len(header) + 1 :]
    if not body:
        raise DataError(f"{place}: no rows below the header; fetch the archive again")
    if body[-1] != ord("\n"):
        raise DataError(f"{place}: the last row has no line end (truncated); fetch it again")
    return body


def _read_batch(batch: _Batch) -> pa.Table:
    """Parse the rows of several files at once."""
    try:
        table = _parse(b"".join(batch.bodies), sum(batch.n_rows))
    except (pa.ArrowException, DataError):
        _find_fault(batch)
        raise
    starts = np.cumsum(batch.n_rows) - batch.n_rows
    _check(batch, starts, table)
    patient_id = np.array([_patient_id(batch.path, name) for name in batch.names], np.int32)
    hour = np.arange(len(table)) - np.repeat(starts, batch.n_rows)
    letters = pa.DictionaryArray.from_arrays(np.zeros(len(table), np.int32), [batch.hospital])
    keys = {
        "patient_id": pa.array(np.repeat(patient_id, batch.n_rows)),
        "hour": pa.array(hour.astype(np.int16)),
        "hospital": letters,
    }
    return pa.table({**keys, **{name: table[name] for name in COLUMNS}})


def _find_fault(batch: _Batch) -> None:
    """Parse files one by one, and raise `DataError` for the first that cannot be read."""
    for name, body, n_rows in zip(batch.names, batch.bodies, batch.n_rows, strict=True):
        try:
            _parse(bytes(body), n_rows)
        except (pa.ArrowException, DataError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{batch.path}: {name}: {reason}; mend or remove the file") from error


def _parse(text: bytes, n_rows: int) -> pa.Table:
    """Parse pipe-separated rows without a header."""
    table = pa.csv.read_csv(
        pa.BufferReader(text),
        read_options=pa.csv.ReadOptions(
            column_names=list(COLUMNS), use_threads=False, block_size=1 << 20
        ),
        parse_options=pa.csv.ParseOptions(
            delimiter="|", quote_char=False, ignore_empty_lines=False
        ),
        convert_options=pa.csv.ConvertOptions(column_types=_TYPES, null_values=["NaN"]),
    )
    if len(table) != n_rows:
        raise DataError(f"{len(table)} rows were read from {n_rows} lines")
    return table


def _check(batch: _Batch, starts: np.ndarray, table: pa.Table) -> None:
    """Raise `DataError` for invalid numbers, gaps in hours, or labels that are not 0, then 1."""
    begins = np.zeros(len(table), bool)
    begins[starts] = True
    hour = table["ICULOS"].to_numpy().astype(float)
    label = table["SepsisLabel"].to_numpy().astype(float)
    faults = {
        "ICULOS is missing": np.isnan(hour),
        "ICULOS does not rise by one an hour": ~begins & ~(np.diff(hour, prepend=0) == 1),
        "SepsisLabel is neither 0 nor 1": ~np.isin(label, (0, 1)),
        "SepsisLabel turns from 1 to 0": ~begins & (np.diff(label, prepend=0) < 0),
    }
    for name in COLUMNS:
        if pa.types.is_floating(table[name].type):
            infinite = pc.is_inf(table[name])
            if pc.any(infinite).as_py():
                faults[f"{name} is infinite"] = infinite.fill_null(False).to_numpy()
            # Arrow takes other spellings for a number; a missing value is null by now.
            odd = pc.is_nan(table[name])
            if pc.any(odd).as_py():
                faults[f"{name} is no number (missing is NaN)"] = odd.fill_null(False).to_numpy()
    for fault, rows in faults.items():
        if rows.any():
            row = int(rows.argmax())
            i = int(np.searchsorted(starts, row, side="right")) - 1
            raise DataError(
                f"{batch.path}: {batch.names[i]}: row {row - starts[i] + 1}: {fault}; "
                "mend or remove the file"
            )


def _patient_id(path: str, name: str) -> int:
    match = _PATIENT_FILE.fullmatch(name)
    if match is None:
        raise DataError(f"{path}: {name}: expected a name like p000001.psv")
    return int(match.group(1))
