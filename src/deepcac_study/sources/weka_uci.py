"""The UCI sets of Vilalta et al. (2003, Table 1), as WEKA's ARFF files, to tidy parquet."""

import csv
import io
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.io import arff

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import category_field
from deepcac_study.cohort import steps, write_cohort
from deepcac_study.raw.tidy import with_row_id

StrPath = str | os.PathLike[str]

LABEL = "class"
MIN_CLASS_ROWS = 4  # what a stratified split in three parts needs (splits.draw)

# An identifier whose text names the class, and the mark of the source's own split.
NOT_FEATURES = {"splice": ("Instance_name",), "vowel": ("Train or Test",)}
GROUPS = {"vowel": "Train or Test"}

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


def extract_all(raw: StrPath, tidy: StrPath) -> None:
    """Read every ARFF file of a folder: tables ``{name}.parquet``, and cohorts, beside each other.

    Names are those of the files with underscores for hyphens.
    """
    for file in sorted(Path(raw).glob("*.arff")):
        name = file.stem.replace("-", "_")
        extract(file, Path(tidy) / f"{name}.parquet", Path(tidy) / f"cohort_uci_{name}.json")


def extract(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read one ARFF file; leave out classes too small for a stratified split.

    The class is the last attribute. The table has ``row_id``, the attributes, ``class``, and
    ``group`` where the source has parts. Categories carry their levels, in header order, those that
    occur.
    """
    name = Path(raw).stem
    table = read_arff(raw)
    counts = {"rows of the ARFF file": table.num_rows}
    table = with_row_id(table)
    sizes = Counter(table[LABEL].to_pylist())
    for label in sorted(label for label, size in sizes.items() if size < MIN_CLASS_ROWS):
        table = table.filter(pc.not_equal(table[LABEL], label))
        counts[f"without class {label}: {sizes[label]} rows, too few to split"] = table.num_rows
    if name in GROUPS:
        table = table.append_column("group", table[GROUPS[name]])
    write_table(tidy, table.drop_columns(NOT_FEATURES.get(name, ())))
    write_cohort(cohort, steps(counts), unit="row")


def read_arff(path: StrPath) -> pa.Table:
    """Read an ARFF file of numeric and nominal attributes; the last one is renamed ``class``.

    Numbers become float64 and categories strings, both with nulls; ``?`` is missing unless it is a
    declared level. A file that is missing, not ARFF, damaged or empty, or a class that is missing,
    is a `DataError`.
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
    if np.ndim(data) == 0 or not len(data) or not names or meta[names[-1]][0] != "nominal":
        raise DataError(f"{path}: needs rows and a nominal class as the last attribute")
    fields, columns = [], []
    for name in names:
        kind, levels = meta[name]
        if kind not in ("nominal", "numeric") or (kind == "numeric" and np.isinf(data[name]).any()):
            raise DataError(f"{path}: attribute {name!r} is {kind}, or holds an infinite value")
        plain = LABEL if name == names[-1] else name
        field, column = _column(plain, data[name], levels)
        fields.append(field)
        columns.append(column)
    if columns[-1].null_count:
        row = columns[-1].is_null().index(True).as_py() + 1
        raise DataError(f"{path}: data row {row} has no class")
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
