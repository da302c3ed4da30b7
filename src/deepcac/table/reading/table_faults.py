"""What a user should look at in a table: all at once, and the command that mends it."""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.small_cells import FEW, SMALL, counted
from deepcac.table.reading.cells import as_numbers, is_text, plain
from deepcac.table.reading.class_labels import alike_spellings
from deepcac.table.reading.row_faults import copied_rows, repeated_patients
from deepcac.table.reading.table_encoder import LEFT_OUT, NUMBER, EncodedColumn, TableEncoder
from deepcac.types import Array, Ids

_CODES = frozenset(
    sign * int(digit * times)
    for sign in (1, -1)
    for digit in "789"
    for times in range(2, 9)
) | {-7, -8, -9, -1, -2147483648, 2147483647, -32768, 32767, -9223372036854775808}  # fmt: skip
_APART = 5.0  # distances between quartiles from all others, for a usual code
_FAR_BEYOND = 1.0  # times the distance of both ends of other rows
_FEWEST_VALUES = 10  # different ones of a column in which -1 is odd

# Words among numbers that stand for no value.
_NO_VALUE = re.compile(
    r"(un|not )known|unk|unclear|missing|pending|(not )?(done|available|measured|recorded)|no data",
    re.IGNORECASE,
)
_CENSORED = r"^[<>]=?\s*\d"
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
    encoder: TableEncoder,
    X: Array,
    outcome: tuple[str, Ids, tuple[str, ...]] | None,
    *,
    grouped: bool = False,
) -> list[Fault]:
    """Return what a model can be fitted on, and a user would regret.

    Parameters
    ----------
    rows : pyarrow.Table
        The rows that are used, with the columns of interest only.
    encoder : TableEncoder
    X : ndarray of shape (n, d)
        What it makes of the rows.
    outcome : (str, ndarray of shape (n,), tuple of str) or None
        The label column, class ids of the rows, and what they stand for.
    grouped : bool
        Whether the patient of each row is known.
    """
    faults = []
    alike = [name for name in rows.column_names if _is_cell(name, plain(rows[name]))]
    if len(alike) > rows.num_columns / 2:
        shown = ", ".join(map(repr, alike[:3]))
        faults.append(
            Fault(f"the first line looks like a row ({shown}): is there no header? add one")
        )
    label, codes, classes = outcome or ("", None, ())
    columns = tuple(
        entry for entry in encoder.columns if entry.name in {*rows.column_names} - {label}
    )
    patients = None if grouped else repeated_patients(rows, columns, codes)
    if patients is not None:
        faults.append(Fault(patients[1], f"--group {shlex.quote(patients[0])}"))
    if codes is not None and (text := copied_rows(X, codes, classes)):
        faults.append(Fault(text))
    for column in columns:
        faults += _of_column(column, plain(rows[column.name]), codes)
        if column.kind == NUMBER:
            code = missing_code(column.name, X[:, encoder.names.index(column.name)])
            faults += [Fault(*code)] if code else []
    return faults


def mending_command(typed: Sequence[str], label: str | None, faults: Iterable[Fault]) -> str:
    """Return the comparison with every option that the faults ask for."""
    options = [fault.option for fault in faults if fault.option]
    asked = f"--label {shlex.quote(label)}" if label else "--label COLUMN"
    return " ".join(["deepcac compare", shlex.join(typed), asked, *dict.fromkeys(options)])


def refused_column(name: str, why: str, cells: pa.ChunkedArray) -> Fault:
    """Return why a column is refused, and the option that mends or drops it."""
    words: list[str] = []
    if is_text(cells.type):
        slips = cells.filter(pa.array(as_numbers(cells).slips))
        words = sorted(pc.unique(slips).to_pylist())
    if words and all(_NO_VALUE.fullmatch(word.strip()) for word in words):
        named = (shlex.quote(f"{name}={word}") for word in words)
        return Fault(why, " ".join(f"--missing {word}" for word in named))
    return Fault(why, f"--drop {shlex.quote(name)}")


def _is_cell(name: str, cells: pa.ChunkedArray) -> bool:
    """Tell whether a name could stand in its column: a number of many, or one of its texts."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", name):
        return not is_text(cells.type) or as_numbers(cells).numeric
    return is_text(cells.type) and pc.index(cells, name).as_py() >= 0


def _of_column(column: EncodedColumn, cells: pa.ChunkedArray, codes: Ids | None) -> list[Fault]:
    name, faults = column.name, []
    present = np.asarray(pc.is_valid(cells).to_numpy())
    if is_text(cells.type) and column.kind != NUMBER:
        censored = pc.fill_null(pc.match_substring_regex(cells, _CENSORED), False)
        n = int(pc.sum(censored).as_py() or 0)
        if n and as_numbers(cells.filter(pc.invert(censored))).numeric:
            faults.append(
                Fault(f"Column {name!r}: cells such as '<0.3' stand among numbers; write a number "
                      "instead.")
            )  # fmt: skip
        levels = pc.unique(cells).drop_null().to_pylist()
        if len(levels) <= SMALL * SMALL:
            faults += [
                Fault(f"Column {name!r}: {', '.join(map(repr, texts))} are different levels; spell "
                      "them alike.")
                for texts in alike_spellings(levels)
            ]  # fmt: skip
    filled = int(present.sum())
    if codes is not None and column.kind != LEFT_OUT and _ONE_CLASS <= filled < len(present):
        inside = np.unique(codes[present])
        if len(inside) == 1 and np.mean(codes == inside[0]) ** filled < _CHANCE:
            text = f"Column {name!r}: filled in {filled:,} rows, all of one class: was it "
            faults.append(Fault(text + "written after the outcome?", f"--drop {shlex.quote(name)}"))
    return faults


def missing_code(name: str, values: Array) -> tuple[str, str] | None:
    """Return a line on a number that seems to stand for no value, and the option that says so.

    It stands at an end of the column, in several rows, far from all others; or it is the only
    negative number of the column.

    Parameters
    ----------
    name : str
    values : ndarray of shape (n,)
    """
    values = values[~np.isnan(values)]
    if len(values) <= SMALL:
        return None
    for code in (float(values.min()), float(values.max())):
        n = int((values == code).sum())
        others = values[values != code]
        if code != np.floor(code) or n < 2 or len(others) <= SMALL:
            continue
        gap = max(others.min() - code, code - others.max())
        low, high = np.quantile(others, (0.25, 0.75))
        usual = code in _CODES
        span = others.max() - others.min()
        # Of two values, such as doses of 0 and 888, the larger one is no code.
        far = gap > _APART * (high - low) and (code < 0 or (abs(code) > 9 and span > 0))
        # Of -1, 0 and 1 the first is the next step of a scale; -1 beside 0 or beside 1 is a no or
        # a yes.
        steps = np.diff(np.unique(others)) if span > 0 else np.array([1.0, 2 * abs(others[0])])
        far = far and gap > steps.max()
        spike = n >= FEW and gap > span and gap > _APART * (high - low) and span > 0
        lone = code < 0 <= others.min() and usual and len(np.unique(others)) > _FEWEST_VALUES
        if (usual and far) or spike or lone:
            rows = f"{counted(n)} rows"
            why = "the only negative number" if lone else "far from all others"
            option = f"--missing {shlex.quote(f'{name}={code:.0f}')}"
            return (
                f"Column {name!r}: {code:.0f} stands in {rows}, {why}. If it means no value: "
                f"{option}",
                option,
            )
    return None


def codes_beyond(values: Array, low: float, high: float) -> list[float]:
    """Return the usual codes among numbers (n,) that are far below `low` or above `high`."""
    far = _FAR_BEYOND * (high - low)
    beyond = np.unique(values[(values < low - far) | (values > high + far)])
    return [code for code in beyond.tolist() if code in _CODES]
