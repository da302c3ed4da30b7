"""Risks of an event by a horizon, with censored follow-up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.metrics import roc_auc_score

from deepcac.types import Array, Flags, Ids


@dataclass(frozen=True)
class KaplanMeier:
    """A product-limit curve (Kaplan and Meier 1958) at m distinct times, ascending.

    Arrays have shape (m,); `survival` is that just after a time, `at_risk` and `events` at it.
    """

    time: Array
    survival: Array
    at_risk: Ids
    events: Ids

    def at(self, moment: npt.ArrayLike) -> Array:
        """Return the survival just after some times."""
        return self._step(moment, "right")

    def before(self, moment: npt.ArrayLike) -> Array:
        """Return the survival just before some times."""
        return self._step(moment, "left")

    def _step(self, moment: npt.ArrayLike, side: Literal["left", "right"]) -> Array:
        """Return the survival curve at each moment; `side` decides at an event."""
        place = np.searchsorted(self.time, np.asarray(moment, dtype=np.float64), side=side)
        return np.concatenate([[1.0], self.survival])[place]

    def interval(self, moment: float) -> tuple[float, float]:
        """Return the 95 % interval at a time: Greenwood's variance of the log-log survival.

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
    """Return distinct times, numbers at risk, of events and of censored, per time."""
    moments, place = np.unique(time, return_inverse=True)
    everyone = np.bincount(place)
    events = np.bincount(place[event], minlength=len(moments))
    return moments, len(time) - np.cumsum(everyone) + everyone, events, everyone - events


@dataclass(frozen=True)
class FollowUp:
    """Follow-up of n patients, and the horizon of the predicted risk.

    Times, shape (n,), are to the event, or to the end of follow-up. `other`, shape (n,), marks
    patients whose follow-up ended with a competing event, after which the event cannot happen;
    their outcome is known. None where there are no such events.
    """

    time: Array
    event: Flags
    horizon: float
    other: Flags | None = None

    @cached_property
    def outcome(self) -> Ids:
        """1 for an event up to the horizon, else 0, also where the outcome is not known."""
        return (self.event & (self.time <= self.horizon)).astype(np.int64)

    @cached_property
    def outcome_known(self) -> Flags:
        """Whether the outcome is known: an event of any kind by the horizon, or followed to it."""
        return (self.ended & (self.time <= self.horizon)) | (self.time >= self.horizon)

    @property
    def ended(self) -> Flags:
        """Whether follow-up ended with an event of any kind, not with censoring."""
        return self.event if self.other is None else self.event | self.other

    def take(self, rows: npt.NDArray[np.intp] | Flags) -> "FollowUp":
        """Return the patients of a mask or at some positions."""
        other = None if self.other is None else self.other[rows]
        return FollowUp(self.time[rows], self.event[rows], self.horizon, other)

    def weights(self, learnt: npt.NDArray[np.intp] | slice = slice(None)) -> Array:
        """Return the inverse-probability-of-censoring weights (n,); 0 if the outcome is unknown.

        That is the inverse of the probability to be followed until the event, or the horizon
        (Robins and Rotnitzky 1992; Graf et al. 1999), by the censoring curve of patients `learnt`.
        """
        time = self.time[learnt]
        curve = censoring_curve(time, self.ended[learnt])
        chance = curve.before(np.minimum(self.time, self.horizon))
        return np.where(self.outcome_known, 1 / np.maximum(chance, 1 / len(time)), 0.0)


def joined(parts: Sequence[FollowUp]) -> FollowUp | None:
    """Concatenate the patients of several tables, at the horizon of the first; None if no table."""
    if not parts:
        return None
    time, event = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("time", "event")
    )
    rivals = [
        np.zeros(len(part.time), np.bool_) if part.other is None else part.other for part in parts
    ]
    other = np.concatenate(rivals) if any(part.other is not None for part in parts) else None
    return FollowUp(time, event, parts[0].horizon, other)


def resampled_weights(follow: FollowUp, draws: npt.NDArray[Any]) -> Array:
    """Return `FollowUp.weights` with a censoring curve learnt in each of r draws, shape (n, r).

    `draws`, shape (n, r), counts how often each patient is drawn.
    """
    moments, place = np.unique(follow.time, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(moments)))
    counted = draws[order].astype(np.float64)
    ended = follow.ended[order][:, None]
    everyone = np.add.reduceat(counted, starts, axis=0)
    events = np.add.reduceat(counted * ended, starts, axis=0)
    size = everyone.sum(axis=0)
    left = size - np.cumsum(everyone, axis=0) + everyone - events
    lost = np.divide(everyone - events, left, out=np.zeros_like(left), where=left > 0)
    curve = np.vstack([np.ones(draws.shape[1]), np.cumprod(1 - lost, axis=0)])
    before = np.searchsorted(moments, np.minimum(follow.time, follow.horizon), side="left")
    chance = np.maximum(curve[before], 1 / np.maximum(size, 1))
    return np.where(follow.outcome_known[:, None], 1 / chance, 0.0)


# By hand, with the weights above: scikit-survival has these scores, under the GPL.
def auroc_at(follow: FollowUp, risk: Array) -> float:
    """Return the cumulative/dynamic AUROC at the horizon, weighted for censoring (Uno 2007)."""
    labelled = follow.outcome_known
    weight = follow.weights()[labelled]
    return float(roc_auc_score(follow.outcome[labelled], risk[labelled], sample_weight=weight))


def brier_at(follow: FollowUp, risk: Array) -> float:
    """Return the Brier score at the horizon, weighted for censoring (Graf et al. 1999)."""
    return float((follow.weights() * (follow.outcome - risk) ** 2).mean())


def observed_risk(follow: FollowUp) -> tuple[float, float, float]:
    """Return the risk at the horizon with its 95 % interval.

    Estimated by Kaplan and Meier, or with competing events by Aalen and Johansen (1978).
    """
    if follow.other is not None:
        return cumulative_incidence(follow)
    curve = kaplan_meier(follow.time, follow.event)
    low, high = curve.interval(follow.horizon)
    return 1 - float(curve.at(follow.horizon)), 1 - high, 1 - low


def cumulative_incidence(follow: FollowUp) -> tuple[float, float, float]:
    """Return the risk that the event comes first and by the horizon, with its 95 % interval.

    The estimate is that of Aalen and Johansen (1978), its variance that of Gaynor et al. (1993);
    the interval is symmetric on log(-log), as in R's cmprsk.
    """
    moments, at_risk, ended, _ = _counts(follow.time, follow.ended)
    place = np.searchsorted(moments, follow.time[follow.event])
    events = np.bincount(place, minlength=len(moments))
    seen = moments <= follow.horizon
    n, every, cases = (counts[seen].astype(np.float64) for counts in (at_risk, ended, events))
    before = np.concatenate([[1.0], np.cumprod(1 - every / n)])[:-1] if len(n) else n
    risen = np.cumsum(before * cases / n)
    risk = float(risen[-1]) if len(n) else 0.0
    gap = risk - risen
    rest = n - every
    spread = np.divide(every, n * rest, out=np.zeros(len(n)), where=rest > 0)
    variance = float(
        (gap**2 * spread).sum()
        + (before**2 * cases * (n - cases) / n**3).sum()
        - 2 * (gap * before * cases / n**2).sum()
    )
    if not 0 < risk < 1:
        return risk, *_of_all_or_none(follow, risk)
    half = stats.norm.ppf(0.975) * np.sqrt(max(variance, 0.0)) / (risk * abs(np.log(risk)))
    return risk, float(risk ** np.exp(half)), float(risk ** np.exp(-half))


def incidence_curve(follow: FollowUp) -> KaplanMeier:
    """Return one minus the cumulative incidence with competing events, as a `KaplanMeier`."""
    moments, at_risk, ended, _ = _counts(follow.time, follow.ended)
    place = np.searchsorted(moments, follow.time[follow.event])
    events = np.bincount(place, minlength=len(moments))
    before = np.concatenate([[1.0], np.cumprod(1 - ended / at_risk)])[:-1]
    return KaplanMeier(moments, 1 - np.cumsum(before * events / at_risk), at_risk, events)


def _of_all_or_none(follow: FollowUp, risk: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval, for where nobody or everybody had the event first.

    Counts are of patients whose outcome is known.
    """
    n = int(follow.outcome_known.sum())
    if not n:
        return 0.0, 1.0
    if risk == 0:
        return 0.0, float(stats.beta.ppf(0.975, 1, n))
    return float(stats.beta.ppf(0.025, n, 1)), 1.0
