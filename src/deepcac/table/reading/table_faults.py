"""What stands in the way of a comparison on a table: all at once, and the command that mends it."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.small_cells import SMALL
from deepcac.table.reading.cells import as_numbers, is_text, numbers, plain
from deepcac.table.reading.class_labels import ClassLabels
from deepcac.table.reading.table_encoder import NUMBER, EncodedColumn
from deepcac.task import Array, Ids

_PATIENT = re.compile(
    r"(.*[_ .-])?(patient|subject|person|mrn)([_ .-]?(id|nr|no|number))?|(.*[_ .-])?id",
    re.IGNORECASE,
)
_CENSORED = r"^[<>]=?\s*\d"
_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
_ONE_CLASS = 20  # filled rows of one class alone that are spoken of
_CHANCE = 0.001  # of so many rows of that class, were they any rows


class Fault(NamedTuple):
    """One thing to look at.

    Attributes
    ----------
    text : str
        What it is, with its column.
    option : str
        What mends it on the command line; empty where the file must be changed.
    """

    text: str
    option: str = ""


def table_faults(
    rows: pa.Table,
    columns: Iterable[EncodedColumn],
    refused: Mapping[str, str],
    labels: tuple[str, ClassLabels] | None,
    number: Ids,
) -> list[Fault]:
    """Return everything that a comparison would stumble over, or that a user would regret.

    Parameters
    ----------
    rows : pyarrow.Table
        The rows that are described, without columns of no interest.
    refused : mapping
        Columns that cannot be read, and why.
    labels : (str, ClassLabels) or None
        The label column and the classes of every row of the file.
    number : ndarray of shape (n,)
        Numbers of the rows in their file.
    """
    found = [Fault(why, f"--drop {shlex.quote(name)}") for name, why in refused.items()]
    alike = [name for name in rows.column_names if _is_cell(name, plain(rows[name]))]
    if len(alike) > rows.num_columns / 2:
        shown = ", ".join(map(repr, alike[:3]))
        found.append(
            Fault(f"the first line looks like a row ({shown}): is there no header? add one")
        )
    codes = None if labels is None else labels[1].codes[number - 1]
    described = {*rows.column_names} - ({labels[0]} if labels else set())
    for column in columns:
        if column.name in described:
            found += _of_column(column, plain(rows[column.name]), codes, column.name in refused)
    if labels is not None:
        found += _spellings(labels[0], Counter(labels[1].classes))
    return found


def mending_command(typed: Sequence[str], label: str | None, faults: Iterable[Fault]) -> str:
    """Return the comparison with every option that the faults ask for."""
    options = [one.option for one in faults if one.option]
    asked = f"--label {shlex.quote(label)}" if label else "--label COLUMN"
    return " ".join(["deepcac compare", shlex.join(typed), asked, *dict.fromkeys(options)])


def _is_cell(name: str, cells: pa.ChunkedArray) -> bool:
    """Tell whether a name could stand in its column: a number of many, or one of its texts."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", name):
        return not is_text(cells.type) or as_numbers(cells).numeric
    return is_text(cells.type) and name in Counter(cells.to_pylist())


def _of_column(
    column: EncodedColumn,
    cells: pa.ChunkedArray,
    codes: Ids | None,
    refused: bool,
) -> list[Fault]:
    name, found = column.name, []
    present = np.asarray(pc.is_valid(cells).to_numpy())
    if is_text(cells.type):
        censored = int(pc.sum(pc.match_substring_regex(cells, _CENSORED)).as_py() or 0)
        if censored:
            found.append(
                Fault(f"column {name!r}: {censored:,} cells such as '<0.3'; write a number instead")
            )
        levels = Counter(cells.drop_null().to_pylist())
        if len(levels) <= SMALL * SMALL:
            found += _spellings(name, levels)
    known = _PATIENT.fullmatch(name) and not pa.types.is_nested(cells.type)
    if known and SMALL < pc.count_distinct(cells.drop_null()).as_py() < present.sum():
        found.append(
            Fault(f"column {name!r}: values stand in several rows; if they are patients, their "
                  "rows must stay together", f"--group {shlex.quote(name)}")
        )  # fmt: skip
    if column.kind == NUMBER and not refused:
        found += _codes(name, numbers(cells, name))
    filled = int(present.sum())
    if codes is not None and _ONE_CLASS <= filled < len(present):
        inside = np.unique(codes[present])
        if len(inside) == 1 and np.mean(codes == inside[0]) ** filled < _CHANCE:
            told = f"column {name!r}: filled in {filled:,} rows, all of one class: was it "
            found.append(Fault(told + "written after the outcome?", f"--drop {shlex.quote(name)}"))
    return found


def _codes(name: str, values: Array) -> list[Fault]:
    """Find a number that stands for no value: often there, and far from all others."""
    values = values[~np.isnan(values)]
    for code in _CODES:
        others = values[values != code]
        if (values == code).sum() >= 2 and len(others) > SMALL:
            low, high = np.quantile(others, (0.25, 0.75))
            away = max(others.min() - code, code - others.max())
            if away > 5 * (high - low) and away > 0:
                text = f"column {name!r}: {code} stands in {(values == code).sum():,} rows, far "
                return [Fault(text + "from all others; leave cells without a value empty")]
    return []


def _spellings(name: str, levels: Mapping[str, int]) -> list[Fault]:
    """Find texts that differ in case, spaces or signs alone."""
    alike: dict[str, list[str]] = {}
    for text in levels:
        alike.setdefault(re.sub(r"[\s_.-]", "", text).lower(), []).append(text)
    return [
        Fault(f"column {name!r}: {', '.join(map(repr, sorted(texts)))} are different levels; spell "
              "them alike")
        for texts in alike.values()
        if len(texts) > 1 and not any(re.search(r"\d", text) for text in texts)
    ]  # fmt: skip
