"""Names of subtypes: the variables that distinguish them, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.sequence_summary import SUMMARIES
from deepcac.types import Array

SHOWN = 3
_SMALL, _FEW = 10, 5  # values, rows: those of the pages' small cells, a layer above
_STATISTICS = frozenset((*SUMMARIES, "since", "median", "min", "max", "sd", "std", "slope"))
LEAST = 0.05  # log-odds; smaller differences are not named


def subtype_names(
    difference: Array, levels: Sequence[Sequence[str]], names: Sequence[Any], classes: Any
) -> list[str]:
    """Name each subtype by the variables whose contributions differ most from all patients'.

    A contribution is an effect on the risk, not the value of the variable, so both are named. Of
    the columns of one variable, such as its first and its lowest value, the strongest is named.

    Parameters
    ----------
    difference : ndarray of shape (k, n_outputs, d)
        Mean contribution in the subtype minus that of all rows, in log-odds.
    levels : k sequences of d str
        Typical values of each column in each subtype, as text (`subtype_levels`).
    names : sequence of length d
    classes : ndarray of shape (n_classes,)
        With two classes, the single output belongs to the second.
    """
    outputs = classes[1:] if difference.shape[1] == 1 else classes
    return [_name(*pair, names, outputs) for pair in zip(difference, levels, strict=True)]


def subtype_levels(X: Array, subtype: npt.NDArray[np.int64], k: int) -> list[list[str]]:
    """Describe the typical values of each column in each of k subtypes and in all rows, as text.

    These are medians, or shares for a column of 0 and 1. They are withheld for fewer than ten
    values, and shares also if they would reveal fewer than five rows. The share of all rows is
    given only where those of all subtypes are.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        NaN is missing.
    subtype : ndarray of shape (n,)
    """
    by_column = [_levels(column, subtype, k) for column in X.T]
    return [[levels[j] for levels in by_column] for j in range(k)]


def _levels(column: Array, subtype: npt.NDArray[np.int64], k: int) -> list[str]:
    """Return a text per subtype, its share or median; empty for fewer than `_SMALL` rows."""
    there = ~np.isnan(column)
    every, of = column[there], subtype[there]
    parts = [every[of == j] for j in range(k)]
    if not len(every):
        return [""] * k
    if np.isin(every, (0, 1)).all():
        # The share of all rows, less those of other subtypes, would tell one that is not shown.
        hidden = _few(every) or any(0 < len(part) < _SMALL or _few(part) for part in parts)
        whole = "" if hidden else f" (all: {_percent(every)})"
        return [f" in {_share(part)}{whole}" if len(part) >= _SMALL else "" for part in parts]
    whole = f" (all: {np.median(every):.3g})"
    return [f" about {np.median(part):.3g}{whole}" if len(part) >= _SMALL else "" for part in parts]


def _few(flags: Array) -> bool:
    """Return whether a share would reveal that there are few ones or few zeros."""
    ones = int(flags.sum())
    return 0 < ones < _FEW or 0 < len(flags) - ones < _FEW


def _share(flags: Array) -> str:
    if _few(flags):
        return "few" if flags.sum() < _FEW else "nearly all"
    return _percent(flags)


def _percent(flags: Array) -> str:
    return f"{100 * flags.mean():.0f} %"


def _name(
    difference: Array, levels: Sequence[str], names: Sequence[Any], classes: Sequence[Any]
) -> str:
    """Return up to `SHOWN` variables in words, largest difference of effects first."""
    words: dict[tuple[int, str], str] = {}
    for place in np.argsort(-np.abs(difference), axis=None, kind="stable"):
        c, v = map(int, np.unravel_index(place, difference.shape))
        size, variable = difference[c, v], (c, _variable(str(names[v])))
        if abs(size) >= LEAST and variable not in words and len(words) < SHOWN:
            # The event is 1 by custom; of "no" and "yes" nobody knows which one is a risk.
            of = (
                ""
                if len(classes) == 1 and str(classes[0]) in ("1", "True")
                else f" of {classes[c]}"
            )
            verb = "raises" if size > 0 else "lowers"
            words[variable] = f"{names[v]}{levels[v]} {verb} the risk{of} ({size:+.2f})"
    return "; ".join(words.values()) or "as all patients"


def _variable(name: str) -> str:
    """Return the variable that a column measures, without the suffix of a statistic."""
    stem, _, statistic = name.rpartition("_")
    return stem if stem and statistic in _STATISTICS else name
