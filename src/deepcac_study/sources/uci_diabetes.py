"""UCI 296, Diabetes 130-US hospitals 1999-2008: the archive to one tidy table of encounters.

Strack et al. 2014 describe the columns. A question mark in the file is a missing value; ``None``
in the two laboratory columns means "not measured" and is kept as such.
"""

import os

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import Variable, read_variables
from deepcac_study.raw.archive import members
from deepcac_study.raw.delimited import read_delimited

MEMBER = "diabetic_data.csv"
_DOSES = ("No", "Steady", "Up", "Down")


def variables() -> dict[str, Variable]:
    """Return the 50 columns of the file, by name, in file order."""
    return {variable.name: variable for variable in read_variables("uci_diabetes")}


def medications() -> tuple[str, ...]:
    """Return the names of the 23 columns that hold the dose of a drug, in file order."""
    return tuple(name for name, variable in variables().items() if variable.levels == _DOSES)


def extract(archive: str | os.PathLike[str], tidy: str | os.PathLike[str]) -> None:
    """Write the encounters of the archive of UCI 296, of any kind, as parquet.

    Columns: `row` (from 1, the order of the file) and the 50 of the file; whole numbers as int64,
    all else as string, null where missing.
    """
    where = f"{archive}: {MEMBER}"
    write_table(tidy, read_encounters(_member(archive), where=where))


def read_encounters(text: bytes, *, where: str = MEMBER) -> pa.Table:
    """Parse and check the bytes of ``diabetic_data.csv``; `where` is its name in errors."""
    table = read_delimited(
        where, read_variables("uci_diabetes"), header=True, content=text, missing=("?",)
    )
    return table.add_column(0, "row", pa.array(range(1, table.num_rows + 1), pa.int64()))


def _member(archive: str | os.PathLike[str]) -> bytes:
    """Return the bytes of `MEMBER`; DataError if the archive lacks it."""
    for name, content in members(archive):
        if name.rpartition("/")[2] == MEMBER:
            return content
    raise DataError(f"{archive}: no member {MEMBER}; this is not the archive of UCI 296")
