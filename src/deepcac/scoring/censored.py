"""Risks of an event by a horizon, where some patients were not followed so long."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.metrics import roc_auc_score

from deepcac.task import Array, Ids

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class KaplanMeier:
    """A product-limit curve (Kaplan and Meier 1958) at m different times, ascending.

    Of shape (m,) each; `survival` is just after a time, `at_risk` and `events` are at it.
    """

    time: Array
    survival: Array
    at_risk: Ids
    events: Ids

    def at(self, moment: npt.ArrayLike) -> Array:
        """Return the survival just after moments."""
        return self._step(moment, "right")

    def before(self, moment: npt.ArrayLike) -> Array:
        """Return the survival just before moments."""
        return self._step(moment, "left")

    def _step(self, moment: npt.ArrayLike, side: Literal["left", "right"]) -> Array:
        place = np.searchsorted(self.time, np.asarray(moment, dtype=np.float64), side=side)
        return np.concatenate([[1.0], self.survival])[place]

    def interval(self, moment: float) -> tuple[float, float]:
        """Return the 95 % interval at a moment: Greenwood's variance of the log-log survival.

        Where nobody had the event, or everybody, the interval is Clopper and Pearson's of those
        whose outcome is known.
        """
        survival = float(self.at(moment))
        seen = self.time <= moment
        left = self.at_risk[seen] - self.events[seen]
        if survival == 1:
            followed = int(self.at_risk[self.time >= moment].max(initial=0))
            return float(stats.beta.ppf(0.025, followed, 1)) if followed else 0.0, 1.0
        if survival == 0:
            return 0.0, float(stats.beta.ppf(0.975, 1, self.events[seen].sum()))
        variance = float((self.events[seen] / (self.at_risk[seen] * left)).sum())
        half = stats.norm.ppf(0.975) * np.sqrt(variance) / abs(np.log(survival))
        low, high = (float(survival ** np.exp(sign * half)) for sign in (1, -1))
        return low, high


def kaplan_meier(time: Array, event: Flags) -> KaplanMeier:
    """Return the curve of an event, from times (n,) to it or to the end of follow-up."""
    moments, at_risk, events, _ = _counts(time, event)
    survival = np.cumprod(1 - events / at_risk, dtype=np.float64)
    return KaplanMeier(moments, survival, at_risk, events)


def censoring_curve(time: Array, event: Flags) -> KaplanMeier:
    """Return the curve of censoring; a patient with an event at a time is not at risk of it."""
    moments, at_risk, events, censored = _counts(time, event)
    left = at_risk - events
    steps = 1 - np.divide(censored, left, out=np.zeros(len(left)), where=left > 0)
    return KaplanMeier(moments, np.cumprod(steps, dtype=np.float64), left, censored)


def _counts(time: Array, event: Flags) -> tuple[Array, Ids, Ids, Ids]:
    moments, place = np.unique(time, return_inverse=True)
    everyone = np.bincount(place)
    events = np.bincount(place[event], minlength=len(moments))
    return moments, len(time) - np.cumsum(everyone) + everyone, events, everyone - events


@dataclass(frozen=True)
class FollowUp:
    """How long n patients were followed, and to which horizon they are judged.

    Times, shape (n,), are to the event, or to the end of follow-up.
    """

    time: Array
    event: Flags
    horizon: float

    @cached_property
    def outcome(self) -> Ids:
        """1 for an event up to the horizon."""
        return (self.event & (self.time <= self.horizon)).astype(np.int64)

    @cached_property
    def known(self) -> Flags:
        """Whether the outcome is known: an event by the horizon, or followed up to it."""
        return (self.outcome == 1) | (self.time >= self.horizon)

    def take(self, rows: npt.NDArray[np.intp] | Flags) -> "FollowUp":
        """Return some of the patients."""
        return FollowUp(self.time[rows], self.event[rows], self.horizon)

    def weights(self, learnt: npt.NDArray[np.intp] | slice = slice(None)) -> Array:
        """Return how many patients each one stands for; 0 where the outcome is not known.

        The inverse of the chance to be still followed at the event, or at the horizon (Robins and
        Rotnitzky 1992; Graf et al. 1999). The curve of censoring is of the patients `learnt`.
        """
        time = self.time[learnt]
        curve = censoring_curve(time, self.event[learnt])
        chance = curve.before(np.minimum(self.time, self.horizon))
        return np.where(self.known, 1 / np.maximum(chance, 1 / len(time)), 0.0)


def auroc_at(follow: FollowUp, risk: Array) -> float:
    """Return the cumulative/dynamic AUROC at the horizon, weighted for censoring (Uno 2007)."""
    known = follow.known
    weight = follow.weights()[known]
    return float(roc_auc_score(follow.outcome[known], risk[known], sample_weight=weight))


def brier_at(follow: FollowUp, risk: Array) -> float:
    """Return the Brier score at the horizon, weighted for censoring (Graf et al. 1999)."""
    return float((follow.weights() * (follow.outcome - risk) ** 2).mean())


def observed_risk(follow: FollowUp) -> tuple[float, float, float]:
    """Return the Kaplan-Meier risk at the horizon with its 95 % interval."""
    curve = kaplan_meier(follow.time, follow.event)
    low, high = curve.interval(follow.horizon)
    return 1 - float(curve.at(follow.horizon)), 1 - high, 1 - low


def net_benefit_at(follow: FollowUp, risk: Array, threshold: float) -> float:
    """Return the net benefit of treating those of a risk at or above a threshold.

    The events among them are read from their Kaplan-Meier curve (Vickers et al. 2008).
    """
    treated = risk >= threshold
    if not treated.any():
        return 0.0
    events = observed_risk(follow.take(treated))[0]
    return float(treated.mean() * (events - (1 - events) * threshold / (1 - threshold)))
