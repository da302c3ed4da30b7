"""ARFF files, as WEKA and scikit-survival ship them, to arrow tables."""

import csv
import io
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.io import arff

from deepcac.errors import DataError
from deepcac_study.catalogue.variables import category_field

StrPath = str | os.PathLike[str]

_READER_FAULTS = (
    arff.ArffError,
    NotImplementedError,  # relational, string and date attributes
    ValueError,
    KeyError,
    IndexError,
    StopIteration,
    RuntimeError,  # a StopIteration inside scipy's row generator
    csv.Error,
)


def read_arff(path: StrPath) -> pa.Table:
    """Read an ARFF file of numeric and nominal attributes.

    Numbers become float64 and categories strings, both with nulls; ``?`` is missing unless it is a
    declared level. A file that is missing, not ARFF or empty is a `DataError`. scipy reads ``3?``
    as a missing number, but `raw.fetch.check_raw` has verified the file's digest before.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        data, meta = arff.loadarff(io.StringIO(_tight_levels(text)))
    except OSError as error:
        raise DataError(f"{path}: not readable ({error.strerror})") from error
    except _READER_FAULTS as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not a readable ARFF file ({reason})") from error
    names = meta.names()
    if np.ndim(data) == 0 or not len(data) or not names:
        raise DataError(f"{path}: needs rows, and holds none; fetch it again")
    fields, columns = [], []
    for name in names:
        kind, levels = meta[name]
        if kind not in ("nominal", "numeric") or (kind == "numeric" and np.isinf(data[name]).any()):
            raise DataError(f"{path}: attribute {name!r} is {kind}, or holds an infinite value")
        field, column = _column(name, data[name], levels)
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields))


def _column(
    name: str, values: np.ndarray, levels: tuple[str, ...] | None
) -> tuple[pa.Field, pa.Array]:
    """Return field and values: floats, or text with "?" missing and the levels that occur."""
    if levels is None:
        return pa.field(name, pa.float64()), pa.array(values, pa.float64(), from_pandas=True)
    text = np.char.decode(values, "utf-8")
    missing = (text == "?") & ("?" not in levels)
    seen = set(text[~missing].tolist())
    field = category_field(name, tuple(level for level in levels if level in seen))
    return field, pa.array(text, pa.string(), mask=missing)


def _tight_levels(text: str) -> str:
    """Remove the spaces between the levels of a declaration.

    scipy keeps them in the names of the levels, which then do not match the rows of soybean.arff.
    """
    data = re.search(r"(?im)^\s*@data", text)
    end = data.start() if data else len(text)
    return re.sub(r",[ \t]+", ",", text[:end]) + text[end:]
