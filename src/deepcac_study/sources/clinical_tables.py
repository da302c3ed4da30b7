"""Open clinical tables, one row per patient or an examination: raw files to tidy parquet.

Every column is checked against its line in ``catalogue/columns/``; the registry declares cohort,
outcome and excluded columns (`deepcac_study.features.clinical`).
"""

import os
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import levels_of, read_variables
from deepcac_study.raw.arff import read_arff
from deepcac_study.raw.delimited import read_delimited
from deepcac_study.raw.tidy import with_row_id

StrPath = str | os.PathLike[str]
# Column: numbers in the file that mean "no value", or that cannot be.
Codes = Mapping[str, Sequence[float]]


def extract(raw: StrPath, tidy: StrPath, *, columns: str, missing: Sequence[str] = ("",)) -> None:
    """Read the `columns` that the catalogue lists from a comma-separated file with a header."""
    table = read_delimited(raw, read_variables(columns), header=True, missing=missing)
    write_table(tidy, with_row_id(table))


def extract_arff(raw: StrPath, tidy: StrPath, *, columns: str) -> None:
    """Read an ARFF file whose attributes must be those that the catalogue lists.

    An attribute, a kind or a level that is not in the catalogue is a `DataError`.
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


def extract_rda(raw: StrPath, tidy: StrPath, *, columns: str, codes: Codes | None = None) -> None:
    """Read the only table of an R data file, with the `columns` that the catalogue lists."""
    from rdata import read_rda

    try:
        with warnings.catch_warnings():  # of attributes of R that a table here has no place for
            warnings.simplefilter("ignore")
            (table,) = read_rda(raw).values()
    except OSError as error:
        raise DataError(f"{raw}: cannot be read ({error}); fetch it first") from None
    except (ValueError, NotImplementedError) as error:
        raise DataError(f"{raw}: not an R data file with one table ({error})") from None
    _write_checked(raw, table, tidy, columns, codes)


def extract_nhanes1(predictors: StrPath, years: StrPath, tidy: StrPath, *, codes: Codes) -> None:
    """Read the predictors of NHANES I and its follow-up as the package shap ships them.

    Years are until death if positive, else until the end of follow-up, as negative numbers; 0 is a
    follow-up that had hardly begun.
    """
    tables = []
    for path in (predictors, years):
        try:
            tables.append(pd.read_csv(path, index_col=0))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read ({error}); fetch it again") from None
    table, follow_up = tables
    if "y" not in follow_up or not table.index.equals(follow_up.index):
        raise DataError(f"{years}: not the years of the people of {predictors}; fetch both again")
    died = (follow_up["y"] > 0).astype(int)
    table = table.assign(died=died, years=follow_up["y"].abs())
    _write_checked(predictors, table, tidy, "nhanes1", codes)


def _write_checked(
    raw: StrPath, table: pd.DataFrame, tidy: StrPath, columns: str, codes: Codes | None
) -> None:
    """Check a table against the catalogue, as a comma-separated file, and write it as parquet."""
    for name, values in (codes or {}).items():
        numbers = table[name].to_numpy(float, na_value=np.nan)  # 88.8 is written 88.80000000000001
        gone = np.isclose(numbers[:, None], values).any(axis=1)
        table = table.assign(**{name: table[name].mask(gone)})
    content = table.to_csv(index=False).encode()
    checked = read_delimited(raw, read_variables(columns), header=True, content=content)
    write_table(tidy, with_row_id(checked))


def extract_breast_cancers(
    rotterdam: StrPath, gbsg: StrPath, development: StrPath, validation: StrPath
) -> None:
    """Read the two cohorts of Royston and Altman (2013): development and validation."""
    extract(rotterdam, development, columns="rotterdam")
    extract(gbsg, validation, columns="gbsg")
