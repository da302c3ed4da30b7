"""Sepsis after the first 24 hours of an ICU stay, from the hourly records of PhysioNet 2019.

The label of the challenge turns on six hours *before* the onset of sepsis. Sound cohort: stays of
24 hours or more, without an onset in these 24 hours; positive if sepsis begins later. The
published program takes the hour of the label for the onset (switch S4).
"""

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.types import Array
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.cohort import Flow
from deepcac_study.features.columns.hourly import AGGREGATES, aggregate, fill_backward, fill_forward
from deepcac_study.features.columns.sofa import MEASUREMENTS, PARTS, sofa_parts
from deepcac_study.features.columns.stay_columns import Stays, implausible
from deepcac_study.sources.physionet2019 import DEMOGRAPHICS, LABEL_LEAD_HOURS, VARIABLES

HOURS = 24
# The published program aggregates every vital sign and laboratory value but BaseExcess.
AGGREGATED = tuple(name for name in VARIABLES if name != "BaseExcess")


def cohort(stays: Stays, protocol: Protocol = SOUND) -> tuple[npt.NDArray[np.intp], Flow]:
    """Select the stays of `sepsis` and `sepsis_ts`; return their positions and the cohort flow.

    With switch S4 the first hour of the label counts as the onset. If no stay is left, it is a
    `DataError`.
    """
    lead = 0 if "S4" in protocol else LABEL_LEAD_HOURS
    long = stays.length >= HOURS
    early = (stays.first_label >= 0) & (stays.first_label + lead < HOURS)
    chosen = np.flatnonzero(long & ~early)
    flow: Flow = [
        {"step": "stays in the files", "rows": len(stays.length)},
        {"step": f"{HOURS} hourly rows or more", "rows": int(long.sum())},
        {"step": f"no sepsis in the first {HOURS} hours", "rows": len(chosen)},
    ]
    if not len(chosen):
        raise DataError(f"{stays.tidy}: no stay of {HOURS} hours without early sepsis is left")
    return chosen, flow


def sepsis(
    tidy: str | os.PathLike[str], protocol: Protocol = SOUND
) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Build the static features of DeepCAC, section 8: five aggregates per variable.

    Values are carried forward inside a stay. Columns: demographics, value at hour 24, partial SOFA
    at hour 24, aggregates. Without switches the aggregates are over the first 24 hours, and the
    value at hour 24, equal to the last one, is left out: 177 columns, but 210 with S1. The second
    value has ``flow``, stays left after each exclusion, and ``outside``, raw values out of range.

    S1: aggregates over the whole stay. S2: values also carried backward in the first 24 hours. S4:
    see `cohort`. S5: scores as the program. S6: values not clipped to plausible ranges.
    """
    stays = Stays.read(tidy, clipped="S6" not in protocol)
    chosen, flow = cohort(stays, protocol)
    at_24 = stays.starts[chosen] + HOURS - 1
    columns = {name: stays.column(name)[at_24] for name in DEMOGRAPHICS}
    values_at_24, aggregates = _by_variable(stays, chosen, protocol)
    columns |= {
        name: values
        for name, values in values_at_24.items()
        if "S1" in protocol or name not in AGGREGATED
    }
    measured = {name: values_at_24[name] for name in MEASUREMENTS}
    scores = sofa_parts(measured, as_program="S5" in protocol)
    columns |= {f"SOFA_{part}": scores[:, j] for j, part in enumerate(PARTS)}
    return _matrix(stays, chosen, columns | aggregates), _details(tidy, flow)


def _by_variable(
    stays: Stays, chosen: npt.NDArray[np.intp], protocol: Protocol
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the value at hour 24 of every variable, and the five aggregates of `AGGREGATED`."""
    begin = stays.starts[chosen]
    end = stays.starts[chosen + 1] if "S1" in protocol else begin + HOURS
    values_at_24: dict[str, Array] = {}
    aggregates: dict[str, Array] = {}
    for name in VARIABLES:
        filled = fill_forward(stays.column(name), stays.starts)
        if "S2" in protocol:
            filled = fill_backward(filled, stays.starts, HOURS)
        values_at_24[name] = filled[begin + HOURS - 1]
        if name in AGGREGATED:
            table = aggregate(filled, begin, end)
            if "S2" in protocol:
                # The program takes the first row, filled or not, not the first known value.
                table[:, 0] = filled[begin]
            aggregates |= {f"{name}_{a}": table[:, j] for j, a in enumerate(AGGREGATES)}
    return values_at_24, aggregates


def sepsis_ts(tidy: str | os.PathLike[str]) -> tuple[FeatureMatrix, dict[str, Any]]:
    """Build the hourly features of the first 24 hours: (n, 24, 40), as ``variable@hour``.

    Values are as measured, clipped to plausible ranges and not imputed: the mask of DeepCAC,
    appendix 15, is where they are not NaN.
    """
    stays = Stays.read(tidy)
    chosen, flow = cohort(stays)
    rows = stays.starts[chosen][:, None] + np.arange(HOURS)
    columns: dict[str, Array] = {}
    for name in (*VARIABLES, *DEMOGRAPHICS):
        values = stays.column(name)[rows]
        columns |= {f"{name}@{hour:02d}": values[:, hour] for hour in range(HOURS)}
    return _matrix(stays, chosen, columns), _details(tidy, flow)


def _details(tidy: str | os.PathLike[str], flow: Flow) -> dict[str, Any]:
    """Return the facts for the cohort's record."""
    return {"flow": flow, "outside": implausible(tidy)}


def _matrix(stays: Stays, chosen: npt.NDArray[np.intp], columns: dict[str, Array]) -> FeatureMatrix:
    """Return the feature matrix of the chosen stays, with label 1 if sepsis begins at any time."""
    return FeatureMatrix(
        row_id=stays.patient_id[chosen],
        label=(stays.first_label[chosen] >= 0).astype(np.int64),
        X=np.column_stack(list(columns.values())),
        names=tuple(columns),
        group=stays.hospital[chosen],
    )
