"""The UCI sets of Vilalta et al. (2003, Table 1), as WEKA's ARFF files, to tidy parquet."""

import os
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.catalogue.variables import levels_of
from deepcac_study.cohort import steps, write_cohort
from deepcac_study.raw import arff
from deepcac_study.raw.tidy import with_row_id

StrPath = str | os.PathLike[str]

LABEL = "class"
MIN_CLASS_ROWS = 4  # what a stratified split in three parts needs (splits.draw)

# An identifier whose text contains the class, and the column of the source's split.
NOT_FEATURES = {"splice": ("Instance_name",), "vowel": ("Train or Test",)}
GROUPS = {"vowel": "Train or Test"}


def extract_all(raw: StrPath, tidy: StrPath) -> None:
    """Write every ARFF file of a folder as ``{name}.parquet``, and its cohort flow.

    Names are those of the files, with underscores for hyphens.
    """
    for file in sorted(Path(raw).glob("*.arff")):
        name = file.stem.replace("-", "_")
        extract(file, Path(tidy) / f"{name}.parquet", Path(tidy) / f"cohort_uci_{name}.json")


def extract(raw: StrPath, tidy: StrPath, cohort: StrPath) -> None:
    """Read one ARFF file; leave out classes too small for a stratified split.

    The class is the last attribute. The table has ``row_id``, the attributes, ``class``, and
    ``group`` where the source has parts. Categories have the levels that occur as metadata, in
    header order.
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
    """Read an ARFF file (`raw.arff`) whose last attribute is the class, and name it ``class``.

    A last attribute that is not nominal, or a row without a class, is a `DataError`.
    """
    table = arff.read_arff(path)
    *names, last = table.column_names
    if levels_of(table.schema.field(last)) is None:
        raise DataError(f"{path}: needs rows and a nominal class as the last attribute")
    missing = pc.index(pc.is_null(table[last]), True).as_py()
    if missing >= 0:
        raise DataError(f"{path}: data row {missing + 1} has no class")
    return table.rename_columns([*names, LABEL])
