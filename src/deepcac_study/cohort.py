"""The cohort flow of a data set: the number of rows after each exclusion, as JSON."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.files.storage import write_json

Flow = list[dict[str, str | int]]


def steps(counts: Mapping[str, int]) -> Flow:
    """Return a cohort flow from the number of rows after each step, in order."""
    return [{"step": step, "rows": rows} for step, rows in counts.items()]


def write_cohort(
    path: str | os.PathLike[str],
    flow: Flow,
    *,
    unit: str,
    label: npt.NDArray[np.int64] | None = None,
    **details: Any,
) -> None:
    """Write a cohort flow as JSON: ``unit``, ``flow``, the details, and with a label ``classes``.

    The unit is what a row is, for example "ICU stay". Of labels only the counts are written.
    """
    content: dict[str, Any] = {"unit": unit, "flow": flow} | details
    if label is not None:
        classes, counts = np.unique(label, return_counts=True)
        content["classes"] = {str(c): int(n) for c, n in zip(classes, counts, strict=True)}
    write_json(path, content)
