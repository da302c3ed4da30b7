"""Numbers of a column that may be no numbers: codes for a missing value, two units."""

import re
from collections.abc import Sequence

import numpy as np

from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.types import Array

_CODES = frozenset(
    sign * int(digit * times)
    for sign in (1, -1)
    for digit in "789"
    for times in range(2, 9)
) | {-7, -8, -9, -1, -2147483648, 2147483647, -32768, 32767, -9223372036854775808} | {
    float(f"{sign}{'9' * times}.{'9' * decimals}")
    for sign in ("", "-") for times in range(2, 5) for decimals in (1, 2)
}  # fmt: skip
_APART = 5.0  # distances between quartiles from all others, for a usual code
_FAR_BEYOND = 1.0  # times the distance of both ends of other rows
_FEWEST_VALUES = 10  # different ones of a column in which -1 is odd
_MANY_VALUES = 20  # different ones of a column in which a lone 0 is odd
_SCALE_CODES = (7, 8, 9)  # next to a scale of few steps
_STEPS_LEFT_OUT = 3.0  # from a scale that begins with 1 to a code
_MOST_CODES = 3  # at an end of a column
_LONE = "the only negative number"

_FEWEST_OF_A_UNIT = 10
_SHARE_OF_A_UNIT = 0.03
_HOLE = 5.0  # times the next largest step between the numbers of a column
# How many times as large a number is in another unit: per cent, months, mg/dL and mmol/L, ...
_FACTORS = (7, 10, 12, 17.1, 18.02, 30.44, 38.67, 59.48, 88.4, 88.57, 100, 365.25, 1000, 1e6)
_NEAR = 0.25  # of a factor


def plainly(number: float) -> str:
    """Return a number with all of its digits and no exponent."""
    return np.format_float_positional(number, trim="-")


def missing_codes(
    name: str, values: Array, *, needed: bool = False, spikes: bool = True
) -> list[tuple[str, str]]:
    """Return a line on each number that seems to stand for no value, and the number as text.

    Such stand at an end of the column, in several rows, far from all others; or they are the only
    negative numbers of the column. Codes at both ends, up to three each, are held against the rest.
    Where each row has a value that is `needed` there is no number; without `spikes` only the usual
    numbers are codes.
    """
    values = np.sort(values[~np.isnan(values)])
    if len(values) <= FEW:
        return []
    lines: list[tuple[str, str]] = []
    for code, n, why in _usual_codes(values) or (_spike(values) if spikes else []):
        way = "fill it in, or remove these rows" if needed else "list it under missingValues"
        text = Text(
            "Column {!r}: {} occurs in {} rows, {}. If it means no value, {}.",
            *(name, plainly(code), Count(n), why, way),
        )
        lines.append((text, "" if needed else plainly(code)))
    return lines


def _usual_codes(values: Array) -> list[tuple[float, int, str]]:
    """Return the usual codes at the ends of sorted values (n,), as many as can be, and why."""
    distinct, counts = np.unique(values, return_counts=True)
    reach = min(_MOST_CODES, len(distinct) - 1)
    low = _leading(distinct[:reach])
    high = _leading(distinct[::-1][:reach])
    numbers = [(i, j) for i in range(low + 1) for j in range(high + 1) if 0 < i + j < len(distinct)]
    for i, j in sorted(numbers, key=lambda pair: -pair[0] - pair[1]):
        ends = [*range(i), *range(len(distinct) - j, len(distinct))]
        inner = slice(counts[:i].sum(), len(values) - counts[len(distinct) - j :].sum())
        rest = values[inner]
        if len(rest) <= FEW or counts[ends].max() < 2:
            continue
        codes = [(float(distinct[place]), int(counts[place])) for place in ends]
        reasons = [_why(code, n, rest, usual=True) for code, n in codes]
        negative = sum(code < 0 for code, _ in codes)
        if negative > 1:
            reasons = [why.replace(_LONE, f"one of {negative} negative numbers") for why in reasons]
        if all(reasons):
            return [(*code, why) for code, why in zip(codes, reasons, strict=True)]
    return []


def _leading(numbers: Array) -> int:
    """Return how many of the first numbers may be usual codes."""
    odd = [not (code in _CODES or code in _SCALE_CODES or _last_of_width(code)) for code in numbers]
    return odd.index(True) if True in odd else len(odd)


def _last_of_width(code: float) -> bool:
    """Return whether a number is one of the last of its width, such as 98 or 997."""
    return code > 9 and re.fullmatch(r"9+[6-9]", plainly(code)) is not None


def _spike(values: Array) -> list[tuple[float, int, str]]:
    """Return the smallest or largest of sorted values (n,), if any whole number may be a code."""
    for code in (float(values[0]), float(values[-1])):
        rest = values[values != code]
        n = len(values) - len(rest)
        whole = n > 1 and len(rest) > FEW and code == np.floor(code)
        if whole and (why := _why(code, n, rest, usual=False)):
            return [(code, n, why)]
    return []


def _why(code: float, n: int, rest: Array, *, usual: bool) -> str:
    """Return why a value looks like a missing-value code, or an empty string.

    Numbers such as 98 are usual among numbers of fewer digits.
    """
    named = code in _CODES or code in _SCALE_CODES
    if usual and not named and rest.max() >= 10 ** (len(plainly(code)) - 1):
        return ""
    if code < 0 <= rest.min() and code in _CODES and len(np.unique(rest)) > _FEWEST_VALUES:
        return _LONE
    return "far from all others" if _is_apart(code, n, rest, usual=usual) else ""


def _is_apart(code: float, n: int, others: Array, *, usual: bool) -> bool:
    """Return whether a value of n rows is an outlier relative to the others."""
    distinct = np.unique(others)
    least, most = float(distinct[0]), float(distinct[-1])
    gap, span = max(least - code, code - most), most - least
    low, high = np.quantile(others, (0.25, 0.75)).tolist()
    # Of -1, 0 and 1 the first is the next step of a scale; -1 with 0 or with 1 is a no or a
    # yes.
    steps = np.diff(distinct) if span > 0 else np.array([1.0, 2 * abs(least)])
    step = float(steps.max())
    many = n >= FEW and span > 0
    if many and code in _SCALE_CODES and gap >= _left_out(least, most) and (steps == 1).all():
        return True
    spike = many and gap > max(span, 2 * step, _APART * (high - low))
    if not usual:
        zero = many and code == 0 and len(distinct) >= _MANY_VALUES and n < len(others)
        return bool(spike or (zero and gap >= high - low))
    # Of two values, such as doses of 0 and 888, the larger one is no code.
    far = gap > _APART * (high - low) and (code < 0 or (abs(code) > 9 and span > 0))
    return bool((far and gap > step) or (spike and code not in _SCALE_CODES))


def _left_out(least: float, most: float) -> float:
    """Return how far a code is from the last step of a scale at least.

    A scale begins with 1; a count, with 0, may have no patient on several steps.
    """
    return min(_STEPS_LEFT_OUT, most - least + 1) if least == 1 else most - least + 1


def codes_among(values: Array, usual: Sequence[float]) -> list[float]:
    """Return the usual codes among numbers (n,) that are none of the few `usual` values."""
    others = np.setdiff1d(values, usual).tolist()
    scale = max(usual) + _left_out(min(usual), max(usual))
    return [code for code in others if code in _CODES or (code in _SCALE_CODES and code >= scale)]


def codes_beyond(values: Array, low: float, high: float) -> list[float]:
    """Return the usual codes, and 0, among numbers (n,) that are far from `low` to `high`."""
    far = _FAR_BEYOND * (high - low)
    beyond = np.unique(values[(values < low - far) | (values > high + far)])
    return [code for code in beyond.tolist() if code in _CODES or code == 0]


def two_units(name: str, values: Array, *, needed: bool = False) -> str:
    """Return a warning if the numbers of a column have two scales, as of two units.

    The larger ones are a usual factor larger, or degrees Fahrenheit among degrees Celsius, and lie
    about where the others do once they are divided by it. A column that is `needed` cannot be left
    out.
    """
    if (values < 0).any():  # a number without a size, such as a score
        return ""
    values = np.sort(values[values > 0])
    least = max(_FEWEST_OF_A_UNIT, int(_SHARE_OF_A_UNIT * len(values)))
    if len(values) < 4 * _FEWEST_OF_A_UNIT:
        return ""
    steps = np.diff(np.log(values))[least - 1 : len(values) - least]
    hole = int(steps.argmax())
    rest = np.delete(steps, hole)
    if steps[hole] < np.log(1.5) or (len(rest) and steps[hole] < _HOLE * rest.max()):
        return ""
    small, large = values[: hole + least], values[hole + least :]
    middles = float(np.median(small)), float(np.median(large))
    if min(len(np.unique(small)), len(np.unique(large))) < _FEWEST_OF_A_UNIT // 2:
        return ""
    warm = 30 < middles[0] < 44 and _overlay(small, (large - 32) / 1.8)
    near = [
        f for f in _FACTORS if abs(middles[1] / middles[0] / f - 1) < _NEAR
        and _overlay(small, large / f)
    ]  # fmt: skip
    if not warm and not near:
        return ""
    times = f"{near[0]:g} times as large as" if near else "in degrees Fahrenheit, unlike"
    low, high = map(_coarse, middles)
    way = "" if needed else ", or leave the column out"
    return (
        f"Column {name!r}: {100 * len(large) / len(values):.0f} % of the numbers are about {high}, "
        f"the others about {low}, with none between. Are the larger ones {times} the others: two "
        f"units? Write all in one{way}"
    )


def _coarse(number: float) -> str:
    """Return a number of two digits."""
    return plainly(float(f"{number:.2g}"))


def _overlay(first: Array, second: Array) -> bool:
    """Return whether the middle of each lies between the outer tenths of the other."""
    ends = [np.quantile(part, (0.1, 0.5, 0.9)) for part in (first, second)]
    return all(a[0] <= b[1] <= a[2] for a, b in (ends, ends[::-1]))
