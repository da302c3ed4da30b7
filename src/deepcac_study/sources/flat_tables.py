"""Flat tables, one row per record: raw files to tidy parquet."""

import os

import pyarrow as pa

from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import read_variables
from deepcac_study.cohort import steps, write_cohort
from deepcac_study.raw.delimited import infer_variables, read_delimited
from deepcac_study.raw.tidy import with_row_id

StrPath = str | os.PathLike[str]


def extract_adult(train: StrPath, test: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Pool the two files of UCI 2 (Adult), in file order, with their names as ``group``.

    ``adult.test`` starts with a comment line and ends each label with a full stop; both files write
    ``?`` for a missing category.
    """
    variables = read_variables("uci_adult")
    first = read_delimited(train, variables, header=False, missing=("?",))
    second = read_delimited(test, variables, header=False, comment="|", missing=("?",), strip=".")
    group = ["train"] * first.num_rows + ["test"] * second.num_rows
    table = pa.concat_tables([first, second]).append_column("group", pa.array(group, pa.string()))
    write_table(tidy, with_row_id(table))
    counts = {"rows of adult.data": first.num_rows, "rows of both files": table.num_rows}
    write_cohort(cohort, steps(counts), unit="person")


def extract_tumours(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read the breast tumours that scikit-learn ships (UCI 17, Wisconsin Diagnostic).

    The first line of the file holds its counts.
    """
    table = read_delimited(raw, read_variables("wdbc"), header=False, comment="569,30,")
    write_table(tidy, with_row_id(table))
    write_cohort(cohort, steps({"tumours": table.num_rows}), unit="tumour")


def extract_table(
    raw: StrPath,
    tidy: StrPath,
    cohort: StrPath,
    *,
    unit: str,
    columns: str | None = None,
    header: bool = True,
    row_id: str | None = None,
) -> None:
    """Read one comma-separated file, whose rows are one `unit` each.

    `columns` is the source whose columns are listed (`catalogue.variables`) and checked; None
    infers them: numbers, else categories. Without a column `row_id` the rows are numbered.
    """
    variables = infer_variables(raw) if columns is None else read_variables(columns)
    table = read_delimited(raw, variables, header=header)
    if row_id is None:
        table = with_row_id(table)
    else:
        names = ["row_id" if name == row_id else name for name in table.column_names]
        table = table.rename_columns(names).sort_by("row_id")
    write_table(tidy, table)
    write_cohort(cohort, steps({f"{unit}s": table.num_rows}), unit=unit)
