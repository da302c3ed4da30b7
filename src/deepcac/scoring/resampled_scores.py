"""Scores of predicted risks on patients who are drawn again: all draws at once.

Patients are drawn by how often each is in a draw, shape (n, r). At a horizon their outcomes are
weighted for censoring, by weights that each draw learns anew.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, expit, logit, polygamma
from scipy.stats import norm

from deepcac.scoring.bootstrap import SplitScores, poisson_weights, weighted_scores
from deepcac.scoring.calibration import calibration_index, log_odds
from deepcac.scoring.censored import FollowUp, resampled_weights
from deepcac.types import Array, Ids

_STEPS = 25  # of Newton; a slope needs six
_AT_ONCE = 2_000_000  # numbers of a block of draws
_MOST, _FEWEST, _NUMBERS = 500, 100, 20_000_000  # draws, and what they may hold in all
AUROC, AUPRC, RATIO, SLOPE, INTERCEPT, BRIER, SCALED, LOSS, MENDED = SCORES = (
    *("auroc", "auprc", "ratio", "slope", "intercept", "brier", "scaled_brier", "log_loss"),
    "brier_recalibrated",
)
ICI = "calibration_index"  # takes a fit a draw, so that it is no part of these


class Estimate(NamedTuple):
    """A score with its standard error and 95 % interval."""

    value: float
    low: float
    high: float
    error: float  # on the scale on which the interval is symmetric


class Patients(NamedTuple):
    """Patients whose risks are judged, shape (n,) each.

    `y` is 1 where the event came (by the horizon of `follow`, where there is one). Patients of one
    `part`, a resample or a place, are those whose risks one model gave: only they are ranked
    among each other, and censoring is learnt from them. All are of one part if it is None.
    """

    y: Ids
    risk: Array
    follow: FollowUp | None = None
    part: Ids | None = None

    @property
    def labelled(self) -> Ids:
        """Outcomes of those whose outcome is known."""
        return self.y if self.follow is None else self.y[self.follow.outcome_known]

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Patients":
        """Return some of the patients."""
        follow = None if self.follow is None else self.follow.take(rows)
        part = None if self.part is None else self.part[rows]
        return Patients(self.y[rows], self.risk[rows], follow, part)

    def parts(self) -> list[Ids]:
        """Return the places of the patients of each part."""
        if self.part is None:
            return [np.arange(len(self.y))]
        order = np.argsort(self.part, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.part[order])) + 1)

    @property
    def rankable(self) -> bool:
        """Whether a part holds both outcomes, known ones."""
        return any(len(np.unique(self.take(rows).labelled)) == 2 for rows in self.parts())

    def weights(self, draws: npt.NDArray[Any]) -> Array:
        """Return how many patients each one stands for in each draw, shape (n, r)."""
        weights = draws.astype(np.float64)
        if self.follow is not None:
            for rows in self.parts():
                weights[rows] *= resampled_weights(self.follow.take(rows), draws[rows])
        return weights

    def once(self) -> Array:
        """Return how many patients each one stands for, shape (n,), where nobody is drawn."""
        return self.weights(np.ones((len(self.y), 1)))[:, 0]


def _identity(value: Array) -> Array:
    return value


# The scale on which a score is nearly normal, and the way back (Snell et al. 2018).
_SCALES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    AUROC: (lambda value: logit(np.clip(value, 1e-9, 1 - 1e-9)), expit),
    AUPRC: (lambda value: logit(np.clip(value, 1e-9, 1 - 1e-9)), expit),
    RATIO: (lambda value: np.log(np.maximum(value, 1e-9)), np.exp),
    ICI: (lambda value: np.log(np.maximum(value, 1e-9)), np.exp),
}


def scaled(name: str, value: Array) -> Array:
    """Return a score on the scale on which it is nearly normal: log odds or logarithm."""
    return np.asarray(_SCALES.get(name, (_identity, _identity))[0](np.asarray(value)))


def unscaled(name: str, value: Array) -> Array:
    """Return a score from its `scaled` form."""
    return np.asarray(_SCALES.get(name, (_identity, _identity))[1](np.asarray(value)))


def risk_scores(whom: Patients, draws: npt.NDArray[Any]) -> dict[str, Array]:
    """Return `SCORES` of the patients in each draw, shape (r,) each.

    But for the Brier score and the log loss it is NaN where a draw holds one outcome only, and
    observed / expected where no event is expected.
    """
    step = max(1, _AT_ONCE // max(len(whom.y), 1))
    blocks = [_scores(whom, draws[:, j : j + step]) for j in range(0, draws.shape[1], step)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in SCORES}


def _scores(whom: Patients, draws: npt.NDArray[Any]) -> dict[str, Array]:
    y, risk, weight = whom.y, whom.risk, whom.weights(draws)
    size = draws.sum(axis=0, dtype=np.float64)
    odds = log_odds(risk)
    slope, level = slopes(y, odds, weight)
    mended = expit(slope * odds[:, None] + level)
    expected = risk @ draws
    events, others = y @ weight, (1 - y) @ weight
    share = events / size
    # No event, or nothing else: a refit has no end, and the log of O/E is none.
    both = (events > 0) & (others > 0)
    auroc, auprc = _ranked(whom, weight)
    brier = ((y - risk) ** 2) @ weight / size
    same_for_all = np.where(both, (events * (1 - share) ** 2 + others * share**2) / size, np.nan)
    return {
        AUROC: auroc,
        AUPRC: auprc,
        RATIO: np.where(both & (expected > 0), events / np.maximum(expected, 1e-300), np.nan),
        SLOPE: np.where(both, slope, np.nan),
        INTERCEPT: np.where(both, shifts(y, odds, weight), np.nan),
        BRIER: brier,
        SCALED: 1 - brier / same_for_all,
        LOSS: np.logaddexp(0, np.where(y == 1, -odds, odds)) @ weight / size,
        MENDED: np.where(both, (weight * (y[:, None] - mended) ** 2).sum(axis=0) / size, np.nan),
    }


def _ranked(whom: Patients, weight: Array) -> tuple[Array, Array]:
    """Return AUROC and AUPRC under weights (n, r): means of the parts that hold both outcomes."""
    both = [rows for rows in whom.parts() if len(np.unique(whom.take(rows).labelled)) == 2]
    scores = [
        weighted_scores(
            SplitScores(rows, whom.y[rows], np.zeros_like(rows), whom.risk[rows]), weight[rows]
        )
        for rows in both
    ]
    if not scores:
        return np.full(weight.shape[1], np.nan), np.full(weight.shape[1], np.nan)
    auroc, auprc = ([score[name] for score in scores] for name in ("auroc", "auprc"))
    return mean_where_defined(auroc), mean_where_defined(auprc)


def drawn_aurocs(whom: Patients, draws: npt.NDArray[Any]) -> Array:
    """Return the AUROC of the patients as they are and in each draw (n, r), shape (1 + r,)."""
    return _ranked(whom, whom.weights(np.hstack([np.ones((len(draws), 1)), draws])))[0]


def slopes(y: Ids, odds: Array, weight: Array) -> tuple[Array, Array]:
    """Refit slope and intercept of log odds (n,) under weights (n, r), both of shape (r,).

    The slope is 0 where all risks are equal, and the intercept then the log odds of the event.
    """
    share = (y @ weight) / np.maximum(weight.sum(axis=0), 1e-12)
    a, b = logit(np.clip(share, 1e-6, 1 - 1e-6)), np.zeros(weight.shape[1])
    centre, spread = odds.mean(), odds.std()
    if spread < 1e-7:
        return b, a
    x = ((odds - centre) / spread)[:, None]
    for _ in range(_STEPS):
        fitted = expit(a + b * x)
        rest = weight * (y[:, None] - fitted)
        curve = weight * fitted * (1 - fitted)
        g0, g1 = rest.sum(axis=0), (rest * x).sum(axis=0)
        h0, h1, h2 = curve.sum(axis=0), (curve * x).sum(axis=0), (curve * x * x).sum(axis=0)
        whole = np.maximum(h0 * h2 - h1 * h1, 1e-12)
        steps = np.clip([(h2 * g0 - h1 * g1) / whole, (h0 * g1 - h1 * g0) / whole], -2, 2)
        a, b = a + steps[0], b + steps[1]
        if np.abs(steps).max() < 1e-9:
            break
    return b / spread, a - b * centre / spread


def shifts(y: Ids, odds: Array, weight: Array) -> Array:
    """Return what is added to log odds (n,) under weights (n, r) to expect what came, (r,)."""
    step = np.zeros(weight.shape[1])
    for _ in range(_STEPS):
        fitted = expit(odds[:, None] + step)
        gap = (weight * (y[:, None] - fitted)).sum(axis=0)
        curve = np.maximum((weight * fitted * (1 - fitted)).sum(axis=0), 1e-12)
        move = np.clip(gap / curve, -2, 2)
        step = step + move
        if np.abs(move).max() < 1e-9:
            break
    return step


def resampled_benefits(whom: Patients, draws: npt.NDArray[Any], threshold: float) -> Array:
    """Return the net benefit of treating from a threshold on in each draw, shape (r,).

    At a horizon the events among the treated are read from their Kaplan-Meier curve (Vickers et
    al. 2008).
    """
    treated = whom.risk >= threshold
    if not treated.any():
        return np.zeros(draws.shape[1])
    inside = whom.take(treated)
    treated_draws = draws[treated]
    count = treated_draws.sum(axis=0, dtype=np.float64)
    events = inside.y @ inside.weights(treated_draws)
    odds = threshold / (1 - threshold)
    return np.asarray((events - (count - events) * odds) / draws.sum(axis=0, dtype=np.float64))


def benefit(whom: Patients, draws: npt.NDArray[Any], threshold: float) -> Array:
    """Return the net benefit as it is and in each draw (n, r), in patients of 1,000, (1 + r,)."""
    counts = np.hstack([np.ones((len(draws), 1), draws.dtype), draws])
    return 1000 * resampled_benefits(whom, counts, threshold)


def event_share(whom: Patients, draws: npt.NDArray[Any]) -> Array:
    """Return the share of events as it is and in each draw (n, r), shape (1 + r,)."""
    counts = np.hstack([np.ones((len(draws), 1), draws.dtype), draws])
    return np.asarray((whom.y @ whom.weights(counts)) / counts.sum(axis=0, dtype=np.float64))


def perfect_ranking(events: int, others: int) -> tuple[float, float]:
    """Return the log odds of an AUROC of 1, and their error: a bootstrap of it never varies.

    They are mean and sd of Jeffreys' posterior after as many pairs as the rarer outcome has rows,
    none of which was reversed: pairs that share a row are not independent.
    """
    m = min(events, others)
    return float(digamma(m + 0.5) - digamma(0.5)), float(
        np.sqrt(polygamma(1, m + 0.5) + polygamma(1, 0.5))
    )


def mean_where_defined(scores: npt.ArrayLike) -> Array:
    """Return the mean over the first axis of the scores that are not NaN; NaN where none is."""
    values = np.asarray(scores, dtype=np.float64)
    defined = ~np.isnan(values)
    n = defined.sum(axis=0)
    total = np.where(defined, values, 0).sum(axis=0)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0))


def estimate(name: str, value: float, resampled: Array) -> Estimate:
    """Return a score with the 95 % normal interval of its bootstrap, on its `scaled` form."""
    there, drawn = float(scaled(name, np.array(value))), scaled(name, resampled)
    error = float(np.nanstd(drawn, ddof=1)) if (~np.isnan(drawn)).sum() > 1 else np.nan
    half = float(norm.ppf(0.975)) * error
    ends = unscaled(name, np.array([there - half, there + half]))
    return Estimate(value, float(ends[0]), float(ends[1]), error)


def patient_draws(patient: npt.NDArray[Any], seed: int = 0) -> npt.NDArray[np.uint8]:
    """Return how often each row (n,) is in each of some hundred draws of the patients, (n, r)."""
    _, place = np.unique(patient, return_inverse=True)
    draws = int(np.clip(_NUMBERS // len(place), _FEWEST, _MOST))
    return poisson_weights(int(place.max()) + 1, draws, seed)[place]


def drawn_scores(whom: Patients, draws: npt.NDArray[Any]) -> dict[str, Array]:
    """Return `SCORES` of the patients as they are and in each draw (n, r), of shape (1 + r,) each.

    A perfect ranking, or one the wrong way round, has no slope. Of a draw that is ranked so, where
    not all patients are, the AUROC is taken half a pair of patients short of 1, or above 0: log
    odds have no end. Equal risks have no slope either, and an AUROC that no draw changes.
    """
    scores = risk_scores(whom, np.hstack([np.ones((len(whom.y), 1), draws.dtype), draws]))
    auroc, equal = scores[AUROC], np.ptp(whom.risk) == 0
    perfect = (auroc <= 0) | (auroc >= 1)
    scores[SLOPE] = np.where(perfect | equal, np.nan, scores[SLOPE])
    if equal:
        scores[AUROC][1:] = np.nan
    elif not perfect[0]:
        half = 0.5 / max(int(np.prod(np.bincount(whom.labelled, minlength=2))), 1)
        scores[AUROC] = np.where(perfect, np.clip(auroc, half, 1 - half), auroc)
    return scores


def score_intervals(whom: Patients, draws: npt.NDArray[Any]) -> dict[str, Estimate]:
    """Return `SCORES` with their 95 % intervals by draws of the patients, shape (n, r).

    The risks stay as they are. Both outcomes occur. A perfect ranking has the interval of
    `perfect_ranking`, as draws of it never vary.
    """
    return estimates(whom, drawn_scores(whom, draws))


def estimates(whom: Patients, drawn: Mapping[str, Array]) -> dict[str, Estimate]:
    """Return the scores of `drawn_scores` with their intervals."""
    scores = {name: estimate(name, float(drawn[name][0]), drawn[name][1:]) for name in SCORES}
    auroc = scores[AUROC].value
    if auroc <= 0 or auroc >= 1:
        middle, error = perfect_ranking(*np.bincount(whom.labelled, minlength=2).tolist())
        far = float(expit(middle - norm.ppf(0.975) * error))
        ends = (far, 1.0) if auroc >= 1 else (0.0, 1 - far)
        scores[AUROC] = Estimate(auroc, *ends, error)
    return scores


def index_interval(whom: Patients, draws: npt.NDArray[Any]) -> Estimate:
    """Return the integrated calibration index (`calibration_index`) with its 95 % interval."""
    counts = np.hstack([np.ones((len(whom.y), 1)), draws])
    index = calibration_index(whom.y, whom.risk, whom.weights(counts), counts)
    return estimate(ICI, float(index[0]), index[1:])
