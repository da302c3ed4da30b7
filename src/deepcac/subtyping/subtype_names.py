"""What sets a subtype apart, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.sequence_summary import SUMMARIES

SHOWN = 3
_STATISTICS = frozenset((*SUMMARIES, "since", "median", "min", "max", "sd", "std", "slope"))
LEAST = 0.05  # log-odds; less than this sets nothing apart


def subtype_names(
    difference: npt.NDArray[np.float64], names: Sequence[Any], classes: npt.NDArray[Any]
) -> list[str]:
    """Name each subtype by the variables whose contributions differ most from all patients'.

    Of the columns of one variable, such as its first and its lowest value, the strongest is named.

    Parameters
    ----------
    difference : ndarray of shape (k, n_outputs, d)
        Mean contribution in the subtype minus that of all rows, in log-odds.
    names : sequence of length d
    classes : ndarray of shape (n_classes,)
        Of two classes the one output is the second's.
    """
    told = classes[1:] if difference.shape[1] == 1 else classes
    return [_name(one, names, told) for one in difference]


def _name(difference: npt.NDArray[np.float64], names: Sequence[Any], classes: Any) -> str:
    words: dict[tuple[int, str], str] = {}
    for place in np.argsort(-np.abs(difference), axis=None, kind="stable"):
        c, v = map(int, np.unravel_index(place, difference.shape))
        size, variable = difference[c, v], (c, _variable(str(names[v])))
        if abs(size) >= LEAST and variable not in words and len(words) < SHOWN:
            of = f" for {classes[c]}" if len(classes) > 1 else ""
            words[variable] = f"{names[v]} {size:+.2f}{of}"
    return ", ".join(words.values()) or "as all patients"


def _variable(name: str) -> str:
    """Return what a column measures, without the statistic at its end."""
    stem, _, statistic = name.rpartition("_")
    return stem if stem and statistic in _STATISTICS else name
