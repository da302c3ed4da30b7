"""The item map: which items of which table measure which variable, in which unit."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from deepcac.errors import DataError

CONVERSIONS = {
    "none": "{x}",
    "fahrenheit": "({x} - 32) / 1.8",
    "inch": "{x} * 2.54",
    "pound": "{x} * 0.45359237",
    # FiO2 is charted as a percentage or as a fraction, even under one item.
    "percent": "CASE WHEN {x} > 1 THEN {x} / 100 ELSE {x} END",
}
TABLES = ("chartevents", "labevents", "outputevents")


@dataclass(frozen=True)
class Item:
    """One line of ``items.csv``.

    `unit` is the unit that the variable is converted to, by a key of `CONVERSIONS`; values in this
    unit outside `lowest` to `highest` are left out and counted. The table is "chartevents",
    "labevents" or "outputevents"; id and label are those of D_ITEMS or D_LABITEMS. `accepted_units`
    are spellings of the raw unit, lower case, letters, digits, % and / only. A blank unit is always
    accepted; any other is an error.
    """

    variable: str
    unit: str
    lowest: float
    highest: float
    table: str
    itemid: int
    label: str
    accepted_units: tuple[str, ...]
    conversion: str


@cache
def item_map() -> tuple[Item, ...]:
    """Read ``items.csv``.

    A `DataError`: an unknown table or conversion, an item twice in a table, or two lines of a
    variable that disagree on its unit or range.
    """
    text = (resources.files(__package__) / "items.csv").read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> tuple[Item, ...]:
    """Parse the text of an item map; see `item_map`."""
    items: list[Item] = []
    seen: set[tuple[str, int]] = set()
    ranges: dict[str, tuple[str, float, float]] = {}
    for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
        try:
            item = _item(row)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"items.csv, line {number}: not a line of an item map ({error})"
            ) from error
        if item.table not in TABLES or item.conversion not in CONVERSIONS:
            raise DataError(f"items.csv, line {number}: unknown table or conversion")
        if (item.table, item.itemid) in seen:
            raise DataError(f"items.csv, line {number}: item {item.itemid} occurs twice")
        seen.add((item.table, item.itemid))
        bounds = (item.unit, item.lowest, item.highest)
        if ranges.setdefault(item.variable, bounds) != bounds:
            raise DataError(f"items.csv, line {number}: {item.variable} has two units or ranges")
        items.append(item)
    return tuple(items)


def _item(row: dict[str, str]) -> Item:
    return Item(
        variable=row["variable"],
        unit=row["unit"],
        lowest=float(row["lowest"]),
        highest=float(row["highest"]),
        table=row["table"],
        itemid=int(row["itemid"]),
        label=row["label"],
        accepted_units=tuple(row["accepted_units"].split()),
        conversion=row["conversion"],
    )


def variable_names() -> tuple[str, ...]:
    """Return the variables in the order of the item map."""
    return tuple(dict.fromkeys(item.variable for item in item_map()))
