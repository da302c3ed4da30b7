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

_DATA = re.compile(r"^\s*@data.*$", re.IGNORECASE | re.MULTILINE)
# A field is quoted as a whole or holds no comma; a backslash takes its mark away from a quote.
_FIELD = re.compile(
    r"""(?:^|,)(\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"][^,]*|)\s*)(?=,|$)"""
)
_NUMBER = re.compile(r"\?|[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

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
    declared level. A file that is missing, not ARFF, damaged or empty is a `DataError`.
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
    _check_fields(path, text, meta)
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


def _check_fields(path: StrPath, text: str, meta: arff.MetaData) -> None:
    """Refuse what scipy reads as less: fields too many, ``3?`` as missing and ``1_000`` as 1000."""
    names = meta.names()
    numeric = [meta[name][0] == "numeric" for name in names]
    body = _DATA.split(text, maxsplit=1)[-1]
    number = 0
    for line in body.splitlines():
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        number += 1
        fields = _FIELD.findall(line)
        if len(fields) != len(names):
            raise DataError(
                f"{path}: data row {number} has {len(fields)} fields, {len(names)} are declared"
            )
        for name, is_number, field in zip(names, numeric, fields, strict=True):
            if is_number and not _NUMBER.fullmatch(field.strip()):
                raise DataError(
                    f"{path}: data row {number}, attribute {name!r}: {field.strip()[:40]!r} is no "
                    "number; a missing value is ?"
                )


def _column(
    name: str, values: np.ndarray, levels: tuple[str, ...] | None
) -> tuple[pa.Field, pa.Array]:
    if levels is None:
        return pa.field(name, pa.float64()), pa.array(values, pa.float64(), from_pandas=True)
    text = np.char.decode(values, "utf-8")
    missing = (text == "?") & ("?" not in levels)
    seen = set(text[~missing].tolist())
    field = category_field(name, tuple(level for level in levels if level in seen))
    return field, pa.array(text, pa.string(), mask=missing)


def _tight_levels(text: str) -> str:
    """Drop the spaces between the levels of a declaration; soybean.arff has one that stays in."""
    data = re.search(r"(?im)^\s*@data", text)
    end = data.start() if data else len(text)
    return re.sub(r",[ \t]+", ",", text[:end]) + text[end:]
