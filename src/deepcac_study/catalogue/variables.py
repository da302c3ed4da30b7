"""The columns of flat raw files: kind, unit, plausible range, levels.

``catalogue/columns/`` has one CSV per source, with the columns ``name`` (as in the raw file),
``kind`` (id, number, integer, category or text), ``unit``, ``low``, ``high``, ``levels`` (in order,
joined by ``|``), ``missing`` (yes if values may be missing) and ``meaning`` (for WiDS the group in
the data dictionary).
"""

import csv
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

import pyarrow as pa


@dataclass(frozen=True)
class Variable:
    """One column of a raw file, named as in its header, or in its description if it has none.

    `kind` is "id" (an integer that no two rows share), "number", "integer", "category" or "text";
    the `unit` is empty for a pure number. `low` and `high` bound the plausible values,
    inclusively; None is no bound. `levels` holds every category, in order, and `meaning` is a line
    for the data page.
    """

    name: str
    kind: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    levels: tuple[str, ...] = ()
    missing: bool = False
    meaning: str = ""

    def field(self) -> pa.Field:
        """Return the arrow field of the tidy column.

        Categories carry their levels as metadata; integers without missing values are int64, all
        other numbers float64.
        """
        if self.kind == "category":
            return category_field(self.name, self.levels)
        if self.kind == "text":
            return pa.field(self.name, pa.string())
        whole = self.kind in ("id", "integer") and not self.missing
        return pa.field(self.name, pa.int64() if whole else pa.float64())


@cache
def read_variables(source: str) -> tuple[Variable, ...]:
    """Return the columns of a source, in file order."""
    text = (resources.files("deepcac_study.catalogue") / "columns" / f"{source}.csv").read_text(
        "utf-8"
    )
    return tuple(
        Variable(
            name=row["name"],
            kind=row["kind"],
            unit=row["unit"],
            low=float(row["low"]) if row["low"] else None,
            high=float(row["high"]) if row["high"] else None,
            levels=tuple(row["levels"].split("|")) if row["levels"] else (),
            missing=row["missing"] == "yes",
            meaning=row["meaning"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def category_field(name: str, levels: tuple[str, ...]) -> pa.Field:
    """Return a string field that carries its levels, in order, as metadata."""
    return pa.field(name, pa.string(), metadata={"levels": json.dumps(levels)})


def levels_of(field: pa.Field) -> tuple[str, ...] | None:
    """Return the levels that `category_field` stored, None for other fields."""
    stored = (field.metadata or {}).get(b"levels")
    return None if stored is None else tuple(json.loads(stored))
