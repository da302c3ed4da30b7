"""Tables of scores, net benefit and differences between places: of all pages, in one form."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from deepcac.pages.tables import Table
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.resampled_scores import (
    AUPRC,
    AUROC,
    BRIER,
    ICI,
    INTERCEPT,
    LOSS,
    RATIO,
    RECALIBRATED_BRIER,
    SCALED,
    SLOPE,
    Estimate,
    benefit,
    estimate,
    event_share,
    perfect_ranking,
    scaled,
    score_intervals,
    unscaled,
)
from deepcac.scoring.small_cells import Count
from deepcac.table.answer import with_interval
from deepcac.table.pages.comparison_tables import Line, score_line
from deepcac.table.pages.risk_figures import TREAT_ALL, treatments
from deepcac.table.predictions import Predictions
from deepcac.types import Array

Scores = Mapping[str, Estimate]
NAMES = {
    AUROC: "AUROC", AUPRC: "AUPRC", RATIO: "observed / expected events",
    INTERCEPT: "calibration intercept", SLOPE: "calibration slope",
    ICI: "calibration index (ICI)", BRIER: "Brier score", SCALED: "scaled Brier score",
    LOSS: "log loss", RECALIBRATED_BRIER: "Brier score, recalibrated",
}  # fmt: skip
DIGITS = {
    AUROC: 3, AUPRC: 3, RATIO: 2, INTERCEPT: 2, SLOPE: 2, ICI: 4, BRIER: 4, SCALED: 4, LOSS: 4,
    RECALIBRATED_BRIER: 4,
}  # fmt: skip
_BEST = {
    AUROC: "1; by chance 0.5", AUPRC: "1; by chance the share of events", RATIO: "1",
    INTERCEPT: "0", SLOPE: "1", ICI: "0", BRIER: "0", SCALED: "1; the same risk for all 0",
    LOSS: "0",
}  # fmt: skip
POOLED = (AUROC, RATIO, SLOPE)
FEWEST_TO_POOL = 5  # places; of fewer the spread between places is hardly known
OVER, PREDICTED = "all sites, pooled", "a new site, expected"
SCORE_NOTE = (
    "Observed / expected: above 1, the risks are too low on average. Intercept: above 0, they are "
    "too low. Slope: below 1, they are too extreme."
)


def model_scores(predictions: Predictions) -> dict[str, Scores]:
    """Return the scores of each model of some predictions, with their intervals."""
    return {
        name: score_intervals(predictions.of(name), predictions.draws) for name in predictions.risk
    }


def score_table(columns: Mapping[str, Scores]) -> Table:
    """Return a table with a line a score, and a column for each model, event or update."""
    first = next(iter(columns.values()))
    rows = [
        (name, *(score_cell(scores[key], key) for scores in columns.values()), _BEST[key])
        for key, name in NAMES.items()
        if key in first and key in _BEST
    ]
    single = len(columns) == 1
    head = ("score", *(["value (95 % interval)"] if single else columns), "best")
    return Table.of_texts("scores", "Every score", head, rows)


def score_cell(score: Estimate, name: str) -> str:
    """Return a score with its interval, as far as it has one."""
    if np.isnan(score.value):
        return "not defined"
    sign = name == INTERCEPT and not np.isnan(score.low)
    return with_interval(score, DIGITS[name], sign=sign)


def benefit_table(
    judged: Mapping[str, Predictions], thresholds: Array, *, refit: bool = False
) -> Table:
    """Return net benefit in patients of 1,000, a line for each place and threshold.

    `judged` has the places, or "" for one table, and `refit` adds recalibrated risks.
    """
    rows: list[tuple[str, ...]] = []
    named = list(judged) != [""]
    for place, predictions in judged.items():
        treated = treatments(predictions, refit=refit)
        share = event_share(treated[TREAT_ALL], predictions.draws)
        for t in thresholds.tolist():
            drawn = {what: benefit(whom, predictions.draws, t) for what, whom in treated.items()}
            cells = [drawn_cell(values, 1) for values in drawn.values()]
            largest = 1000 * np.where(share > 0, share, np.nan)
            standardised = drawn_cell(next(iter(drawn.values())) / largest, 2)
            rows.append((*[place] * named, f"{100 * t:.3g} %", *cells, standardised))
    first_place = next(iter(judged.values()))
    head = (
        *["place"] * named, "treat from", *treatments(first_place, refit=refit),
        "standardised",
    )  # fmt: skip
    return Table.of_texts("benefits", "Net benefit", head, rows, n_labels=1 + named)


BENEFIT_NOTE = (
    "In patients of 1,000: those correctly treated, minus false alarms weighted by the odds of the "
    "threshold (the option --thresholds sets them), with 95 % intervals. Standardised: over the "
    "share of events, so that 1 is the largest."
)


def drawn_cell(drawn: Array, digits: int) -> str:
    """Return a signed value with its interval, of values as they are and in each draw (1 + r,)."""
    return with_interval(estimate("", float(drawn[0]), drawn[1:]), digits, sign=True)


class Place(NamedTuple):
    """A place with the risks of one model there, and their scores."""

    predictions: Predictions
    scores: Scores


class Spread(NamedTuple):
    """A score over places: its mean with a 95 % interval, and where that of a new place lies."""

    mean: float
    low: float
    high: float
    new_low: float
    new_high: float


def pool_places(places: Mapping[str, Place]) -> dict[str, Spread]:
    """Pool each score of `POOLED` over places by random effects; none over fewer than five.

    The log odds of the AUROC are pooled, the log of O/E, and the slope itself (Snell et al. 2018).
    """
    if len(places) < FEWEST_TO_POOL:
        return {}
    spreads = {}
    for name in POOLED:
        values, errors = zip(
            *(_scaled_score(place, name) for place in places.values()), strict=True
        )
        pooled = pool_sites(list(values), list(errors))
        half = float(stats.t.ppf(0.975, pooled.freedom)) * pooled.error
        low, high = pooled.mean - half, pooled.mean + half
        ends = np.array((pooled.mean, low, high, pooled.new_low, pooled.new_high))
        spreads[name] = Spread(*unscaled(name, ends).tolist())
    return spreads


def _scaled_score(place: Place, name: str) -> tuple[float, float]:
    """Return a score of a place, on its `scaled` form, and its error."""
    score = place.scores[name]
    if name == AUROC and score.value >= 1:
        return perfect_ranking(*place.predictions.outcomes[::-1].tolist())
    return float(scaled(name, np.array(score.value))), max(score.error, 1e-9)


_OF_PLACES = (AUROC, RATIO, SLOPE, INTERCEPT, BRIER, RECALIBRATED_BRIER)


def place_table(places: Mapping[str, Place]) -> Table:
    """Return the scores of one model in each place, and those pooled over places."""
    rows = [
        (
            name,
            Count(place.predictions.rows),
            Count(int(place.predictions.outcomes[1])),
            *(score_cell(place.scores[score], score) for score in _OF_PLACES),
        )
        for name, place in places.items()
    ]
    spreads = pool_places(places)
    if spreads:
        rest = [""] * (len(_OF_PLACES) - len(POOLED))
        pooled = [with_interval(spreads[name][:3], DIGITS[name]) for name in POOLED]
        new = [
            " to ".join(f"{end:z.{DIGITS[name]}f}" for end in spreads[name][3:]) for name in POOLED
        ]
        rows += [(OVER, "", "", *pooled, *rest), (PREDICTED, "", "", *new, *rest)]
    head = ("place", "rows", "events", *(NAMES[score] for score in _OF_PLACES))
    return Table.of_texts("places-scores", "Scores by place", head, rows, kept=(head[0], head[3]))


def place_lines(places: Mapping[str, Place]) -> dict[str, list[Line]]:
    """Return the lines of a forest plot of the scores that are pooled."""
    lines = {
        name: [
            score_line(place, measured.scores[name][:3])
            for place, measured in places.items()
            if not np.isnan(measured.scores[name].low)
        ]
        for name in POOLED
    }
    for name, spread in pool_places(places).items():
        new = (spread.mean, spread.new_low, spread.new_high)
        lines[name].append(score_line(OVER, spread[:3], pooled=True))
        lines[name].append(score_line(PREDICTED, new, pooled=True))
    return lines


def update_table(updates: Mapping[str, Scores]) -> Table:
    """Return the scores after each kind of update."""
    shown: Sequence[str] = (AUROC, RATIO, SLOPE, BRIER, LOSS)
    rows = [
        (name, *(score_cell(scores[score], score) for score in shown))
        for name, scores in updates.items()
    ]
    head = ("update", *(NAMES[score] for score in shown))
    return Table.of_texts("updates", "Updates", head, rows, kept=(head[0], head[2]))
