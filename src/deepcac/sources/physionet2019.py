"""PhysioNet/Computing in Cardiology Challenge 2019: hourly records of ICU stays, for sepsis.

Two archives (hospital systems A and B) hold one pipe-separated file a patient: a header and one
row an hour with 8 vital signs, 26 laboratory values, 6 demographic columns and ``SepsisLabel``,
which turns to 1 six hours before the onset of sepsis (Reyna et al. 2019). They become one table.
"""

import os
import re
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from deepcac.errors import DataError
from deepcac.sources.archive import members
from deepcac.storage import write_table

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
    """Turn the archives into one tidy hourly table.

    Parameters
    ----------
    archives : mapping of str to path-like
        Archive of each hospital system, by its letter.
    tidy : path-like
        Parquet file to write: ``patient_id``, ``hour`` (row of the stay, from 0), ``hospital``
        and the columns of the files, ordered by patient and hour; missing values are null.

    Raises
    ------
    DataError
        A file is not in the challenge's format, or a patient stands twice.
    """
    write_table(tidy, read_archives(archives))


def read_archives(archives: Mapping[str, str | os.PathLike[str]]) -> pa.Table:
    """Read the archives into the table that `extract` writes."""
    table = pa.concat_tables(
        batch for hospital, path in archives.items() for batch in _read_archive(path, hospital)
    )
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
        raise DataError(f"patient p{patient:06d} stands in two files; remove one of them")
    return table


def _read_archive(path: str | os.PathLike[str], hospital: str) -> Iterator[pa.Table]:
    """Yield tables of about `_BATCH_BYTES` of text each; every file is whole in one table."""
    names: list[str] = []
    bodies: list[memoryview] = []
    n_rows: list[int] = []
    size = total = 0
    for name, data in members(path):
        if not name.endswith(".psv"):
            continue
        names.append(name)
        bodies.append(_body(f"{path}: {name}", data))
        n_rows.append(data.count(b"\n") - 1)
        size += len(data)
        total += 1
        if size >= _BATCH_BYTES:
            yield _read_batch(path, hospital, names, bodies, n_rows)
            names, bodies, n_rows, size = [], [], [], 0
    if names:
        yield _read_batch(path, hospital, names, bodies, n_rows)
    if not total:
        raise DataError(f"{path}: holds no .psv file; expected training set {hospital}")


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


def _read_batch(
    path: str | os.PathLike[str],
    hospital: str,
    names: list[str],
    bodies: list[memoryview],
    n_rows: list[int],
) -> pa.Table:
    """Parse the rows of several files at once."""
    try:
        table = _parse(b"".join(bodies), sum(n_rows))
    except (pa.ArrowException, DataError):
        # Only the slow way names the file at fault.
        for name, body, n in zip(names, bodies, n_rows, strict=True):
            try:
                _parse(bytes(body), n)
            except (pa.ArrowException, DataError) as error:
                reason = str(error).splitlines()[0]
                raise DataError(f"{path}: {name}: {reason}; mend or remove the file") from error
        raise
    starts = np.cumsum(n_rows) - n_rows
    _check(f"{path}", names, starts, table)
    patient_id = np.array([_patient_id(f"{path}: {name}", name) for name in names], np.int32)
    hour = np.arange(len(table)) - np.repeat(starts, n_rows)
    keys = {
        "patient_id": pa.array(np.repeat(patient_id, n_rows)),
        "hour": pa.array(hour.astype(np.int16)),
        "hospital": pa.DictionaryArray.from_arrays(np.zeros(len(table), np.int32), [hospital]),
    }
    return pa.table({**keys, **{name: table[name] for name in COLUMNS}})


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


def _check(path: str, names: list[str], starts: np.ndarray, table: pa.Table) -> None:
    """Refuse infinite values, labels that are not 0/1 or turn off again, and hours not in order."""
    begins = np.zeros(len(table), bool)
    begins[starts] = True
    hour = table["ICULOS"].to_numpy().astype(float)
    label = table["SepsisLabel"].to_numpy().astype(float)
    faults = {
        "ICULOS does not rise by one an hour": ~begins & ~(np.diff(hour, prepend=0) == 1),
        "SepsisLabel is neither 0 nor 1": ~np.isin(label, (0, 1)),
        "SepsisLabel turns from 1 to 0": ~begins & (np.diff(label, prepend=0) < 0),
    }
    for name in COLUMNS:
        if pa.types.is_floating(table[name].type):
            infinite = pc.is_inf(table[name])
            if pc.any(infinite).as_py():
                faults[f"{name} is infinite"] = infinite.fill_null(False).to_numpy()
    for fault, rows in faults.items():
        if rows.any():
            row = int(rows.argmax())
            i = int(np.searchsorted(starts, row, side="right")) - 1
            raise DataError(
                f"{path}: {names[i]}: row {row - starts[i] + 1}: {fault}; mend or remove the file"
            )


def _patient_id(place: str, name: str) -> int:
    found = _PATIENT_FILE.fullmatch(name)
    if found is None:
        raise DataError(f"{place}: expected a name like p000001.psv")
    return int(found.group(1))
