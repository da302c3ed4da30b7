"""UCI 296, Diabetes 130-US hospitals 1999-2008: the archive to one tidy table of encounters.

Strack et al. 2014 describe the columns. A question mark in the file is a missing value; ``None``
in the two laboratory columns means "not measured" and is kept as such.
"""

import io
import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from deepcac.errors import DataError
from deepcac.sources.archive import members
from deepcac.storage import write_table

MEMBER = "diabetic_data.csv"
MEDICATIONS = (
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride"),
    *("acetohexamide", "glipizide", "glyburide", "tolbutamide", "pioglitazone", "rosiglitazone"),
    *("acarbose", "miglitol", "troglitazone", "tolazamide", "examide", "citoglipton", "insulin"),
    *("glyburide-metformin", "glipizide-metformin", "glimepiride-pioglitazone"),
    *("metformin-rosiglitazone", "metformin-pioglitazone"),
)
HEADER = (
    *("encounter_id", "patient_nbr", "race", "gender", "age", "weight", "admission_type_id"),
    *("discharge_disposition_id", "admission_source_id", "time_in_hospital", "payer_code"),
    *("medical_specialty", "num_lab_procedures", "num_procedures", "num_medications"),
    *("number_outpatient", "number_emergency", "number_inpatient", "diag_1", "diag_2", "diag_3"),
    *("number_diagnoses", "max_glu_serum", "A1Cresult", *MEDICATIONS),
    *("change", "diabetesMed", "readmitted"),
)
INTEGERS = (
    *("encounter_id", "patient_nbr", "admission_type_id", "discharge_disposition_id"),
    *("admission_source_id", "time_in_hospital", "num_lab_procedures", "num_procedures"),
    *("num_medications", "number_outpatient", "number_emergency", "number_inpatient"),
    "number_diagnoses",
)
AGES = tuple(f"[{low}-{low + 10})" for low in range(0, 100, 10))
LEVELS: dict[str, tuple[str, ...]] = {
    "race": ("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"),
    "gender": ("Male", "Female", "Unknown/Invalid"),
    "age": AGES,
    "max_glu_serum": ("None", "Norm", ">200", ">300"),
    "A1Cresult": ("None", "Norm", ">7", ">8"),
    **dict.fromkeys(MEDICATIONS, ("No", "Steady", "Up", "Down")),
    "change": ("No", "Ch"),
    "diabetesMed": ("No", "Yes"),
    "readmitted": ("NO", ">30", "<30"),
}
MAY_MISS = frozenset(
    {"race", "weight", "payer_code", "medical_specialty", "diag_1", "diag_2", "diag_3"}
)


def extract(archive: str | os.PathLike[str], tidy: str | os.PathLike[str]) -> None:
    """Write the encounters of the archive as parquet.

    Parameters
    ----------
    archive : path-like
        The archive of UCI 296, in any packing.
    tidy : path-like
        Output: `row` (from 1, the order of the file) and the 50 columns of the file; whole numbers
        as int64, all else as string, null where missing.

    Raises
    ------
    DataError
        The archive or the table in it is not what its format promises.
    """
    where = f"{archive}: {MEMBER}"
    write_table(tidy, read_encounters(_member(archive), where=where))


def read_encounters(text: bytes, *, where: str = MEMBER) -> pa.Table:
    """Parse and check the bytes of ``diabetic_data.csv``.

    Parameters
    ----------
    text : bytes
        The file.
    where : str
        What errors call it.

    Returns
    -------
    pyarrow.Table
        As `extract` writes it.
    """
    _check_header(text, where)
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(HEADER, pa.string()),
        null_values=["?"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    try:
        table = pa.csv.read_csv(
            io.BytesIO(text), pa.csv.ReadOptions(use_threads=False), convert_options=options
        )
    except pa.ArrowInvalid as error:
        message = " ".join(str(error).split())[:200]
        raise DataError(f"{where}: truncated or not a table of 50 columns ({message})") from error
    if table.num_rows == 0:
        raise DataError(f"{where}: no encounter after the header; fetch the archive again")
    columns = {"row": pa.array(range(1, table.num_rows + 1), pa.int64())}
    columns.update({name: _checked(table[name], name, where) for name in HEADER})
    _check_unique(columns["encounter_id"], where)
    return pa.table(columns)


def _member(archive: str | os.PathLike[str]) -> bytes:
    for name, content in members(archive):
        if name.rpartition("/")[2] == MEMBER:
            return content
    raise DataError(f"{archive}: no member {MEMBER}; this is not the archive of UCI 296")


def _check_header(text: bytes, where: str) -> None:
    if not text.strip():
        raise DataError(f"{where}: the file is empty; fetch the archive again")
    line = text.partition(b"\n")[0].decode("utf-8", "replace").strip("\r\ufeff")
    for delimiter, named in (("\t", "tabs"), (";", "semicolons"), ("|", "bars")):
        if line.split(delimiter) == list(HEADER):
            raise DataError(f"{where}: fields are parted by {named}, commas are expected")
    names = line.split(",")
    for position, (got, expected) in enumerate(zip(names, HEADER, strict=False), start=1):
        if got != expected:
            raise DataError(
                f"{where}: column {position} is {got[:40]!r}, {expected!r} is expected; "
                "this is not the table of UCI 296"
            )
    if len(names) != len(HEADER):
        raise DataError(f"{where}: {len(names)} columns, {len(HEADER)} are expected")


def _checked(column: pa.ChunkedArray, name: str, where: str) -> pa.ChunkedArray:
    if name not in MAY_MISS:
        _refuse(pc.is_null(column), column, f"column {name!r} must not be missing", where)
    if name in INTEGERS:
        whole = pc.match_substring_regex(column, r"^[0-9]{1,18}$")
        _refuse(pc.invert(whole), column, f"column {name!r} must be a whole number", where)
        return pc.cast(column, pa.int64())
    if name in LEVELS:
        known = pc.is_in(column, pa.array([*LEVELS[name], None], pa.string()))
        message = f"column {name!r} must be one of {', '.join(LEVELS[name])}"
        _refuse(pc.invert(known), column, message, where)
    return column


def _refuse(bad: pa.ChunkedArray, column: pa.ChunkedArray, message: str, where: str) -> None:
    row = pc.index(bad, True).as_py()
    if row >= 0:
        value = column[row].as_py()
        seen = "?" if value is None else value[:40]
        raise DataError(f"{where}: row {row + 1}: {message}, not {seen!r}")


def _check_unique(encounter: pa.ChunkedArray, where: str) -> None:
    counts = pc.value_counts(encounter)
    twice = pc.index(pc.greater(counts.field("counts"), 1), True).as_py()
    if twice >= 0:
        id_ = counts.field("values")[twice]
        first = pc.index(encounter, id_).as_py()
        second = first + 1 + pc.index(encounter.slice(first + 1), id_).as_py()
        raise DataError(
            f"{where}: encounter_id {id_} stands in rows {first + 1} and {second + 1}; "
            "each encounter must stand once"
        )
