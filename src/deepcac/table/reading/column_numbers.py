"""A column as numbers, or what is wrong with it, by row."""

import numpy as np
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.table.reading.cells import EXACT, LARGEST, as_numbers, is_text, read_two_ways
from deepcac.task import Array, Ids


def numbers(cells: pa.ChunkedArray, name: str, number: Ids) -> Array:
    """Return a column as numbers, NaN where missing; anything else is refused with its row.

    Cells are of `cells.plain`; `number` is that of each row in its file.
    """
    if is_text(cells.type):
        refuse_two_readings(cells, name, number)
        found = as_numbers(cells)
        if found.slips.any():
            at = int(found.slips.argmax())
            others = f", though {100 * found.share:.0f} % of the column are" if found.share else ""
            raise DataError(
                f"column {name!r}, data row {number[at]}: {cells[at].as_py()!r} is no number"
                f"{others}; mend it, leave it empty, or leave the column out (--drop)"
            )
        values = found.values
    elif is_numeric(cells.type):
        # Whole numbers beyond 2**53 are refused below; the cast would change their last digits.
        values = np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    else:
        raise DataError(f"column {name!r} is of type {cells.type}; numbers were expected")
    whole = pa.types.is_integer(cells.type)
    beyond = np.abs(values) >= EXACT if whole else np.abs(values) > LARGEST
    if beyond.any():
        at = int(beyond.argmax())
        raise DataError(
            f"column {name!r}, data row {number[at]}: {values[at]:g} is no measurement; leave it "
            "empty where the value is missing"
        )
    return values


def refuse_two_readings(cells: pa.ChunkedArray, name: str, number: Ids | None = None) -> None:
    """Refuse text in which a comma may stand before decimals or between thousands.

    Cells are of `cells.plain`; rows are numbered from 1 without `number`.
    """
    place = read_two_ways(cells)
    if place is not None:
        text = cells[place].as_py()
        row = place + 1 if number is None else number[place]
        raise DataError(
            f"column {name!r}, data row {row}: {text!r} is {text.replace(',', '')} or "
            f"{text.replace(',', '.')}; say --decimal . or --decimal , (the sign before decimals)"
        )


def is_numeric(kind: pa.DataType) -> bool:
    """Tell whether an arrow type holds numbers, or yes and no."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )
