"""Compiled reader of lines ``HH:MM,Parameter,Value`` in their ordinary form.

A line of any other form, such as a number with an exponent or an error, is only marked, and left to
a slower reader with error messages.
"""

import numpy as np
import numpy.typing as npt

from deepcac.compilation import njit

SLOTS = 256
_EMPTY = -1
_NEWLINE, _COMMA, _MINUS, _POINT, _COLON, _ZERO = 10, 44, 45, 46, 58, 48
_DIGITS = 15  # up to here a quotient of whole number and power of ten is the nearest double
_POWERS = 10.0 ** np.arange(_DIGITS + 1)


@njit()
def _slot(text, start, stop):  # type: ignore[no-untyped-def]
    """Return the hash slot at which the search for a name begins."""
    key = stop - start
    for i in range(start, stop):
        key = (key * 31 + text[i]) & 0xFFFF
    return key % SLOTS


@njit()
def _find(text, start, stop, names, ends, slots):  # type: ignore[no-untyped-def]
    """Return the position of ``text[start:stop]`` among the names, or -1."""
    slot = _slot(text, start, stop)
    while slots[slot] != _EMPTY:
        k = slots[slot]
        first = ends[k]
        if ends[k + 1] - first == stop - start:
            same = True
            for i in range(stop - start):
                same &= names[first + i] == text[start + i]
            if same:
                return k
        slot = (slot + 1) % SLOTS
    return -1


@njit()
def _digit(text, i):  # type: ignore[no-untyped-def]
    return np.int64(text[i]) - _ZERO


@njit()
def _time(text, start, stop):  # type: ignore[no-untyped-def]
    """Return the minutes of ``HH:MM,`` at `start`, or -1."""
    if stop - start < 6 or text[start + 2] != _COLON or text[start + 5] != _COMMA:
        return -1
    minutes = 0
    for place, weight in ((0, 600), (1, 60), (3, 10), (4, 1)):
        digit = _digit(text, start + place)
        if digit < 0 or digit > 9 or (place == 3 and digit > 5):
            return -1
        minutes += weight * digit
    return minutes


@njit()
def _number(text, start, stop):  # type: ignore[no-untyped-def]
    """Return the decimal number ``text[start:stop]``, or NaN."""
    negative = start < stop and text[start] == _MINUS
    whole, digits, decimals, point = np.int64(0), 0, 0, False
    for i in range(start + negative, stop):
        digit = _digit(text, i)
        if text[i] == _POINT and not point:
            point = True
        elif 0 <= digit <= 9 and digits < _DIGITS:
            whole = 10 * whole + digit
            digits += 1
            decimals += point
        else:
            return np.nan
    if digits == 0:
        return np.nan
    number = whole / _POWERS[decimals]
    return -number if negative else number


@njit()
def _scan(text, names, ends, slots, minute, code, value, ordinary):  # type: ignore[no-untyped-def]
    """Fill minute, code and value per line; ordinary says that both were read."""
    stop = -1
    for line in range(len(minute)):
        start = stop + 1
        stop = start
        while text[stop] != _NEWLINE:
            stop += 1
        minute[line] = _time(text, start, stop)
        comma = start + 6
        while comma < stop and text[comma] != _COMMA:
            comma += 1
        if minute[line] < 0 or comma >= stop:
            continue
        code[line] = _find(text, start + 6, comma, names, ends, slots)
        value[line] = _number(text, comma + 1, stop)
        ordinary[line] = code[line] >= 0 and not np.isnan(value[line])


def scan(
    text: bytes, n: int, names: tuple[str, ...]
) -> tuple[
    npt.NDArray[np.int16], npt.NDArray[np.int8], npt.NDArray[np.float64], npt.NDArray[np.bool_]
]:
    """Parse n lines with newlines; return minutes, positions in `names`, values and `ordinary`.

    All are of shape (n,), the first three of ordinary lines only: two digits each for hour and
    minute, a known name, and a decimal number of up to 15 digits.
    """
    encoded = [name.encode() for name in names]
    packed = np.frombuffer(b"".join(encoded), np.uint8)
    ends = np.cumsum([0, *map(len, encoded)])
    slots = np.full(SLOTS, _EMPTY, dtype=np.int64)
    for k in range(len(names)):
        slot = _slot(packed, ends[k], ends[k + 1])
        while slots[slot] != _EMPTY:
            slot = (slot + 1) % SLOTS
        slots[slot] = k
    minute, code = np.full(n, -1, dtype=np.int16), np.full(n, -1, dtype=np.int8)
    value, ordinary = np.full(n, np.nan), np.zeros(n, dtype=bool)
    _scan(np.frombuffer(text, np.uint8), packed, ends, slots, minute, code, value, ordinary)
    return minute, code, value, ordinary
