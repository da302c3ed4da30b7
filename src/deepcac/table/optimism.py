"""`deepcac fit --bootstrap`: the whole choice of a model again, on patients drawn with replacement.

How much better a model looks on the patients that made it than on others (Harrell et al. 1996), and
how far the risk of a patient moves with the draw of patients (Riley and Collins 2023).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import delayed
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from deepcac.errors import DataError
from deepcac.scoring.calibration import calibration, calibration_slope, log_odds
from deepcac.scoring.censored import auroc_at, brier_at
from deepcac.table.choice_folds import Candidate, score_on_folds
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.risk_model import DIRECTIONS, RefitSpread, RiskModel, fit_risk_model
from deepcac.table.risk_model_choice import choice, settings
from deepcac.table.worker_processes import workers
from deepcac.types import Array

SCORES = {"auroc": "AUROC", "calibration_slope": "calibration slope", "brier": "Brier score"}
_SPAN = (2.5, 97.5)


class Refits(NamedTuple):
    """Models of other draws of the patients.

    Attributes
    ----------
    risk : ndarray of shape (r, n)
        Of every row of the table, by each refit.
    drawn, original : ndarray of shape (r, 3)
        `SCORES` of each refit on the rows that made it, and on the table.
    """

    risk: Array
    drawn: Array
    original: Array


@dataclass(frozen=True)
class Optimism:
    """What the refits say of a model.

    Attributes
    ----------
    scores : dict
        For each of `SCORES`: ``apparent``, ``optimism`` and ``corrected``.
    moves : float
        Mean absolute difference between a risk and that of the refits.
    band : ndarray of shape (g, 4)
        Groups of at least ten rows by risk: their mean risk, the ends between which 95 % of the
        refits' risks lie, and the mean absolute difference.
    """

    scores: dict[str, dict[str, float]]
    moves: float
    band: Array

    def to_dict(self, refits: int) -> dict[str, Any]:
        """Return what a model keeps."""
        return {"refits": refits, "scores": self.scores, "moves": round(self.moves, 5)}


def refit(
    table: LabelledTable,
    tried: Sequence[Candidate],
    n: int,
    seed: int,
    *,
    say: Callable[[str], None],
    jobs: int = 1,
) -> Refits:
    """Choose and fit a model anew on each of `n` draws of the patients.

    All rows of a patient are drawn together, and stay in one fold. The first refit tells how long
    all of them take. Draws in which too few patients have the event are left out.

    Raises
    ------
    DataError
        Hardly a draw can be fitted.
    """
    begin = time.monotonic()
    seeds = np.arange(n)
    done = _refits(table, tried, seeds[:1], seed)
    seconds = (time.monotonic() - begin) * (n - 1) / jobs
    say(f"bootstrap: {n} refits of the whole choice, about {_duration(seconds)}")
    parts = workers(jobs)(
        delayed(_refits)(table, tried, batch, seed)
        for batch in np.array_split(seeds[1:], jobs)
        if len(batch)
    )
    every = [*done, *(draw for part in parts for draw in part)]
    if len(every) < max(2, n // 2):
        raise DataError(
            f"--bootstrap {n}: only {len(every)} draws hold enough patients with the event"
        )
    risk, drawn, original = (np.array([draw[j] for draw in every]) for j in range(3))
    return Refits(risk, drawn, original)


def _duration(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _refits(
    table: LabelledTable,
    tried: Sequence[Candidate],
    seeds: npt.NDArray[Any],
    first: int,
) -> list[tuple[Array, Array, Array]]:
    """Return risks of all rows, and scores on the drawn and on all rows, for each draw."""
    out = []
    with threadpool_limits(1):
        for number in seeds.tolist():
            drawn = _drawn(table, np.random.default_rng([first, number, 101]))
            try:
                scores = score_on_folds(drawn, tried, first, nested=False)
            except DataError:
                continue
            taken = tried[choice(scores.every, tried)]
            model = fit_risk_model(drawn, settings(taken), first)
            tables = drawn, table
            drawn_risk, all_rows = (model.answers(source.features.X)[0][:, 1] for source in tables)
            scored = _scored(drawn, drawn_risk), _scored(table, all_rows)
            out.append((all_rows, *scored))
    return out


def _drawn(table: LabelledTable, rng: np.random.Generator) -> LabelledTable:
    """Return a table of patients drawn with replacement; a patient's copies share a group."""
    features = table.features
    who = np.arange(len(features.label)) if table.group is None else table.group
    _, place = np.unique(who, return_inverse=True)
    n = int(place.max()) + 1
    copies = np.bincount(rng.integers(0, n, n), minlength=n)[place]
    rows = np.repeat(np.arange(len(place)), copies)
    numbers = np.arange(1, len(rows) + 1)  # copies are rows of their own
    copied = replace(features, X=features.X[rows], label=features.label[rows], row_id=numbers)
    follow = None if table.follow is None else table.follow.take(rows)
    return replace(table, features=copied, group=place[rows], follow=follow)


def _scored(table: LabelledTable, risk: Array) -> Array:
    """Return `SCORES` of the risks of a table's rows; at a horizon weighted for censoring."""
    y, follow = table.features.label, table.follow
    if follow is not None:
        slope = calibration_slope(y, risk, follow.weights())
        return np.array([auroc_at(follow, risk), slope, brier_at(follow, risk)])
    fit = calibration(y, risk)
    return np.array([roc_auc_score(y, risk), fit.slope, fit.brier])


def optimism(table: LabelledTable, model: RiskModel, refits: Refits) -> Optimism:
    """Return how far the apparent scores are too good, and how far risks move.

    A corrected score has no interval: on its own rows a refit's slope is about 1, and its AUROC
    too if columns are many, whatever the patients, so how these vary is no error.
    """
    risk = model.answers(table.features.X)[0][:, 1]
    apparent = _scored(table, risk)
    surplus = (refits.drawn - refits.original).mean(axis=0)
    columns = {"apparent": apparent, "optimism": surplus, "corrected": apparent - surplus}
    scores = {
        name: {kind: round(float(values[j]), 4) for kind, values in columns.items()}
        for j, name in enumerate(SCORES)
    }
    away = np.abs(refits.risk - risk).mean(axis=0)
    parts = np.array_split(np.argsort(risk, kind="stable"), max(1, min(20, len(risk) // 10)))
    band = [
        (
            risk[band_rows].mean(),
            *np.percentile(refits.risk[:, band_rows], _SPAN),
            away[band_rows].mean(),
        )
        for band_rows in parts
    ]
    return Optimism(scores, float(away.mean()), np.array(band))


def spread(table: LabelledTable, model: RiskModel, refits: Refits) -> RefitSpread:
    """Return how the log odds of refits vary, as a model keeps it to give new risks a range.

    The log odds of each refit are written as a linear function of what the model itself is linear
    in, cluster by cluster. Kept are the mean of these functions and the directions in which they
    differ most; what the functions leave, and the other directions, is one variance. No refit, and
    so nothing that depends on single patients, is kept.
    """
    design = model.design(table.features.X)
    odds = log_odds(refits.risk)
    coefficients, *_ = np.linalg.lstsq(design, odds.T, rcond=None)
    rest = float(((odds.T - design @ coefficients) ** 2).mean())
    centre = coefficients.mean(axis=1)
    _, sizes, directions = np.linalg.svd((coefficients.T - centre), full_matrices=False)
    scaled = sizes[:, None] * directions / np.sqrt(len(refits.risk) - 1)
    leading, others = scaled[:DIRECTIONS], scaled[DIRECTIONS:]
    rest += float(((design @ others.T) ** 2).sum(axis=1).mean()) if len(others) else 0.0
    return RefitSpread(centre, leading, rest)
