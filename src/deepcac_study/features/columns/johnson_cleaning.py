"""The cleaning rules of Johnson et al. 2012 for PhysioNet Challenge 2012, as one table.

A rule applies to the values of one variable strictly between two bounds, and corrects them or sets
them to missing. Rules act in the order of the table. They undo misplaced decimal points, repeated
unit conversions, and the code -1 for unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.types import Array


def _missing(x: Array) -> Array:
    """Return NaN for each value."""
    return np.full_like(x, np.nan)


def _times(factor: float) -> Callable[[Array], Array]:
    """Return a function that multiplies by `factor`."""
    return lambda x: x * factor


@dataclass(frozen=True)
class Rule:
    """One cleaning rule, for the values strictly between `above` and `below`."""

    variable: str
    above: float
    below: float
    repair: Callable[[Array], Array] = _missing
    text: str = "missing"

    @property
    def bounds(self) -> str:
        """The range of values that the rule applies to, as text."""
        if self.above == -np.inf:
            return f"< {self.below:g}"
        return f"> {self.above:g}" + ("" if self.below == np.inf else f" and < {self.below:g}")

    def takes(self, value: Array) -> npt.NDArray[np.bool_]:
        """Return a mask of the values that the rule applies to; False for missing ones."""
        return (value > self.above) & (value < self.below)


_LOW, _HIGH = -np.inf, np.inf

MEASURED = (
    *(Rule(v, _LOW, 1) for v in ("DiasABP", "SysABP", "MAP", "NIDiasABP", "NISysABP", "NIMAP")),
    Rule("DiasABP", 200, _HIGH),
    Rule("HR", _LOW, 1),
    Rule("HR", 299, _HIGH),
    Rule("PaCO2", _LOW, 1),
    Rule("PaCO2", _LOW, 10, _times(10), "x 10"),
    Rule("PaO2", _LOW, 1),
    Rule("PaO2", _LOW, 20, _times(10), "x 10"),
    Rule("pH", 0.65, 0.8, _times(10), "x 10"),
    Rule("pH", 65, 80, _times(0.1), "x 0.1"),
    Rule("pH", 650, 800, _times(0.01), "x 0.01"),
    Rule("pH", _LOW, 6.5),
    Rule("pH", 8, _HIGH),
    Rule("Temp", 1, 10, lambda x: x * 9 / 5 + 32, "converted to Celsius twice"),
    Rule("Temp", 95, 113, lambda x: (x - 32) * 5 / 9, "Fahrenheit to Celsius"),
    Rule("Temp", _LOW, 25),
    Rule("Temp", 45, _HIGH),
    Rule("RespRate", _LOW, 1),
    Rule("WBC", _LOW, 1),
    Rule("Weight", _LOW, 35),
    Rule("Weight", 299, _HIGH),
)

ADMISSION = (
    Rule("Age", 130, _HIGH, lambda x: np.full_like(x, 91.4), "91.4 (ages over 89 are masked)"),
    Rule("Gender", _LOW, 0),
    Rule("Weight", _LOW, 35),
    Rule("Weight", 299, _HIGH),
    Rule("Height", _LOW, 0),
    Rule("Height", _LOW, 10, _times(100), "m to cm"),
    Rule("Height", _LOW, 25, _times(10), "x 10"),
    Rule("Height", _LOW, 100, _times(2.2), "x 2.2"),
    Rule("Height", 1000, _HIGH, _times(0.1), "x 0.1"),
    Rule("Height", 250, _HIGH, _times(0.3937), "converted to cm twice"),
)


def clean(
    value: Array, rules: tuple[Rule, ...], *, by_raw_value: bool = False
) -> tuple[Array, list[int]]:
    """Apply the rules of one variable in order; return new values, NaN where missing, and counts.

    A count is the number of values that a rule changed. With `by_raw_value` every rule is selected
    by the raw value instead of the result of earlier rules, as in the published program for
    height: a height of 13 becomes 130, then 286.
    """
    cleaned = value.copy()
    counts = []
    for rule in rules:
        taken = rule.takes(value if by_raw_value else cleaned)
        cleaned[taken] = rule.repair(cleaned[taken])
        counts.append(int(taken.sum()))
    return cleaned, counts
