"""Open clinical tables, one row per patient or an examination: raw files to tidy parquet.

Every column is checked against its line in ``catalogue/columns/``; which rows make the cohort, what
the outcome is and what is no feature, the registry says (`deepcac_study.features.clinical`).
"""

import os
from collections.abc import Sequence

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import levels_of, read_variables
from deepcac_study.raw.arff import read_arff
from deepcac_study.raw.delimited import read_delimited
from deepcac_study.raw.tidy import with_row_id

StrPath = str | os.PathLike[str]


def extract(raw: StrPath, tidy: StrPath, *, columns: str, missing: Sequence[str] = ("",)) -> None:
    """Read the `columns` that the catalogue lists from a comma-separated file with a header."""
    table = read_delimited(raw, read_variables(columns), header=True, missing=missing)
    write_table(tidy, with_row_id(table))


def extract_arff(raw: StrPath, tidy: StrPath, *, columns: str) -> None:
    """Read an ARFF file whose attributes must be those that the catalogue lists.

    Another attribute, another kind of one, or a level that the catalogue lacks is a `DataError`.
    """
    table = read_arff(raw)
    variables = read_variables(columns)
    if table.column_names != [variable.name for variable in variables]:
        raise DataError(
            f"{raw}: the attributes {', '.join(table.column_names)[:200]} are not those that the "
            f"catalogue lists for {columns}; fetch the file again"
        )
    for variable in variables:
        levels = levels_of(table.schema.field(variable.name))
        if (levels is None) == (variable.kind == "category") or set(levels or ()) - set(
            variable.levels
        ):
            raise DataError(
                f"{raw}: attribute {variable.name!r} is not the {variable.kind} that the catalogue "
                f"lists for {columns}; fetch the file again"
            )
    columns_of = [
        variable.field().with_type(table.schema.field(variable.name).type) for variable in variables
    ]
    write_table(tidy, with_row_id(pa.table(table.columns, schema=pa.schema(columns_of))))


def extract_breast_cancers(
    rotterdam: StrPath, gbsg: StrPath, development: StrPath, validation: StrPath
) -> None:
    """Read the two cohorts of Royston and Altman (2013): development and validation."""
    extract(rotterdam, development, columns="rotterdam")
    extract(gbsg, validation, columns="gbsg")
