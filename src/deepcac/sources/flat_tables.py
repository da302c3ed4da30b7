"""The flat UCI tables and the Titanic passenger list: raw files to tidy parquet."""

import os

import pyarrow as pa

from deepcac.catalogue.variables import read_variables
from deepcac.cohort import steps, write_cohort
from deepcac.raw.delimited import read_delimited
from deepcac.raw.tidy import with_row_id
from deepcac.storage import write_table

StrPath = str | os.PathLike[str]


def extract_adult(train: StrPath, test: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Pool the two files of UCI 2 (Adult), in file order, with their names as ``group``.

    Parameters
    ----------
    train, test : path-like
        ``adult.data`` and ``adult.test``. The second starts with a comment line and ends each
        label with a full stop; both write ``?`` for a missing category.
    tidy, cohort : path-like
        Parquet table and row counts to write.
    """
    variables = read_variables("uci_adult")
    first = read_delimited(train, variables, header=False, missing=("?",))
    second = read_delimited(test, variables, header=False, comment="|", missing=("?",), strip=".")
    group = ["train"] * first.num_rows + ["test"] * second.num_rows
    table = pa.concat_tables([first, second]).append_column("group", pa.array(group, pa.string()))
    write_table(tidy, with_row_id(table))
    counts = {"rows of adult.data": first.num_rows, "rows of both files": table.num_rows}
    write_cohort(cohort, steps(counts), unit="person")


def extract_credit(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read UCI 350 (default of credit card clients) from its CSV form; ``ID`` is the row id."""
    table = read_delimited(raw, read_variables("uci_credit"), header=True)
    names = ["row_id", *table.column_names[1:]]
    write_table(tidy, table.rename_columns(names).sort_by("row_id"))
    write_cohort(cohort, steps({"clients": table.num_rows}), unit="client")


def extract_magic(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read UCI 159 (MAGIC gamma telescope)."""
    table = read_delimited(raw, read_variables("uci_magic"), header=False)
    write_table(tidy, with_row_id(table))
    write_cohort(cohort, steps({"events": table.num_rows}), unit="event")


def extract_titanic(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read titanic3, the passenger list with the real outcomes."""
    table = read_delimited(raw, read_variables("titanic"), header=True)
    write_table(tidy, with_row_id(table))
    write_cohort(cohort, steps({"passengers": table.num_rows}), unit="passenger")
