"""Five of the six parts of the SOFA score (Vincent et al. 1996), from hourly values.

Oxygenation uses SaO2/FiO2 in place of PaO2/FiO2, and circulation only the mean arterial pressure,
since the challenge's files have neither PaO2 nor vasopressors.
"""

import numpy as np

from deepcac.types import Array

PARTS = ("O2", "MAP", "Bilirubin", "Creatinine", "Platelets")
MEASUREMENTS = ("SaO2", "FiO2", "MAP", "Bilirubin_total", "Creatinine", "Platelets")

# Lower bounds of the scores 1 to 4 where more is worse, and of 4 to 1 turned round below.
_BILIRUBIN = (1.2, 2.0, 6.0, 12.0)
_CREATININE = (1.2, 2.0, 3.5, 5.0)
_PLATELETS = (20.0, 50.0, 100.0, 150.0)
_OXYGEN = (67.0, 142.0, 221.0, 302.0)
_PRESSURE = (70.0,)
_PROGRAM_BILIRUBIN = (1.2, 1.9, 6.0, 12.0)
_PROGRAM_CREATININE = (1.2, 1.9, 3.4, 4.9)


def sofa_parts(measured: dict[str, Array], *, as_program: bool = False) -> Array:
    """Score oxygenation, circulation, liver, kidney and coagulation from 0 to 4, shape (n, 5).

    `measured` are `MEASUREMENTS` in %, fraction, mmHg, mg/dL, mg/dL and 10^3/uL; an unknown one
    gives NaN. `as_program` gives the published program's scores (switch S5): its own cuts for
    bilirubin and creatinine, and 4 for a missing measurement other than the pressure.
    """
    fio2 = measured["FiO2"]
    with np.errstate(divide="ignore", invalid="ignore"):
        oxygen = np.where(fio2 == 0, np.nan, measured["SaO2"] / fio2)
    bilirubin = _PROGRAM_BILIRUBIN if as_program else _BILIRUBIN
    creatinine = _PROGRAM_CREATININE if as_program else _CREATININE
    scores = np.column_stack(
        [
            _falling(oxygen, _OXYGEN),
            _falling(measured["MAP"], _PRESSURE),
            _rising(measured["Bilirubin_total"], bilirubin),
            _rising(measured["Creatinine"], creatinine),
            _falling(measured["Platelets"], _PLATELETS),
        ]
    )
    if as_program:
        missing = np.isnan(scores)
        missing[:, PARTS.index("MAP")] = False
        scores[missing] = 4
        scores[fio2 == 0, PARTS.index("O2")] = 0
    return scores


def _rising(values: Array, bounds: tuple[float, ...]) -> Array:
    """Return the number of bounds that each value reaches; NaN stays NaN."""
    return np.where(np.isnan(values), np.nan, np.searchsorted(bounds, values, side="right"))


def _falling(values: Array, bounds: tuple[float, ...]) -> Array:
    """Return the number of bounds that each value falls below; NaN stays NaN."""
    return len(bounds) - _rising(values, bounds)
