"""Intervals of calibration on pooled predictions, by patients that are drawn again."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.scoring.bootstrap import poisson_weights
from deepcac.scoring.calibration import calibration
from deepcac.scoring.resampled_scores import (
    BRIER,
    INTERCEPT,
    RATIO,
    SLOPE,
    Estimate,
    Patients,
    estimate,
    risk_scores,
)
from deepcac.types import Array, Ids

_MOST, _FEWEST, _NUMBERS = 500, 100, 20_000_000  # draws, and what they may hold in all
_CERTAIN = 1e-7


class CalibrationIntervals(NamedTuple):
    """Each number of `Calibration` with its 95 % interval."""

    intercept: Estimate
    slope: Estimate
    ratio: Estimate
    brier: Estimate
    scaled_brier: Estimate
    log_loss: Estimate


def patient_draws(patient: npt.NDArray[np.intp], seed: int = 0) -> npt.NDArray[np.uint8]:
    """Return how often each row (n,) is in each of some hundred draws of the patients, (n, r)."""
    _, place = np.unique(patient, return_inverse=True)
    draws = int(np.clip(_NUMBERS // len(place), _FEWEST, _MOST))
    return poisson_weights(int(place.max()) + 1, draws, seed)[place]


def calibration_intervals(
    y: Ids, risk: Array, patient: npt.NDArray[np.intp], *, seed: int = 0
) -> CalibrationIntervals:
    """Return calibration with intervals, from predictions of shape (n,).

    Patients are drawn whole, with all their predictions; the models stay as they are. `y` is 1
    where the event came, and holds both values.
    """
    weights = patient_draws(patient, seed)
    drawn = risk_scores(Patients(y, risk), weights)
    size = weights.sum(axis=0, dtype=np.float64)
    share = (y @ weights) / size
    right = np.log(np.clip(np.where(y == 1, risk, 1 - risk), _CERTAIN, 1))
    resampled = {
        "intercept": drawn[INTERCEPT],
        "slope": drawn[SLOPE],
        "ratio": drawn[RATIO],
        "brier": drawn[BRIER],
        "scaled_brier": 1 - drawn[BRIER] / np.where(share % 1, share * (1 - share), np.nan),
        "log_loss": -(right @ weights) / size,
    }
    values = calibration(y, risk)._asdict()
    return CalibrationIntervals(
        **{name: estimate(name, values[name], sample) for name, sample in resampled.items()}
    )
