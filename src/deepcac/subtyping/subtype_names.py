"""What sets a subtype apart, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

SHOWN = 3
LEAST = 0.05  # log-odds; less than this sets nothing apart


def subtype_names(
    difference: npt.NDArray[np.float64], names: Sequence[Any], classes: npt.NDArray[Any]
) -> list[str]:
    """Name each subtype by the variables whose contributions differ most from all patients'.

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
    order = np.argsort(-np.abs(difference), axis=None, kind="stable")[:SHOWN]
    words = []
    for place in order:
        c, v = np.unravel_index(place, difference.shape)
        size = difference[c, v]
        if abs(size) >= LEAST:
            of = f" for {classes[c]}" if len(classes) > 1 else ""
            words.append(f"{names[v]} {size:+.2f}{of}")
    return ", ".join(words) or "as all patients"
