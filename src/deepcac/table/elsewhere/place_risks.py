"""The risks of the best model in other places: scores and net benefit in tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.scoring.resampled_scores import (
    AUROC,
    BRIER,
    INTERCEPT,
    MENDED,
    RATIO,
    SLOPE,
    Patients,
    estimate,
    resampled_benefits,
)
from deepcac.scoring.small_cells import format_count
from deepcac.table.comparison_words import contender_name, signed, with_interval
from deepcac.table.elsewhere.fold_trials import JudgedFold, bootstrap_draws
from deepcac.table.pages.place_pictures import (
    POOLED,
    PlaceRisks,
    mended,
    over_sites,
    treatments,
)
from deepcac.types import Array

_DIGITS = {AUROC: 3, RATIO: 2, SLOPE: 2, INTERCEPT: 2, BRIER: 4, MENDED: 4}


def place_risks(judged: Sequence[JudgedFold]) -> list[PlaceRisks]:
    """Return the places with the risks of their best models; none of three classes."""
    return [
        PlaceRisks(fold.name, fold.model.patients, fold.model.unit, fold.model.scores)
        for fold in judged
        if fold.model.patients is not None
    ]


def score_lines(judged: Sequence[JudgedFold]) -> dict[str, Any]:
    """Return discrimination and calibration of the best model without clusters, by place."""
    binary = bool(judged[0].model.scores)
    rows: list[tuple[str, ...]] = []
    for fold in judged:
        counts = (sum(fold.counts), *([fold.counts[1]] if binary else []))
        shown = map(format_count, counts)
        model = fold.model
        first = with_interval((model.auroc, model.low, model.high), 3)
        more = [
            with_interval(model.scores[name][:3], digits)
            for name, digits in _DIGITS.items()
            if binary and name != AUROC
        ]
        rows.append((fold.name, *shown, contender_name(model.name), first, *more))
    head = ["place", "rows", *["events"] * binary, "model", "AUROC (95 % interval)"]
    if binary:
        head += ["observed / expected", "slope", "intercept", "Brier", "Brier, recalibrated"]
        rows += _pooled_lines(place_risks(judged))
    return {"head": tuple(head), "rows": rows}


def _pooled_lines(places: Sequence[PlaceRisks]) -> list[tuple[str, ...]]:
    spreads = [over_sites(places, name) for name in POOLED]
    lines = []
    for title, first, last in (("all sites, pooled", 1, 3), ("a new site, expected", 3, 5)):
        cells = [
            ""
            if spread is None or np.isnan(spread[first])
            else (
                with_interval(spread[:3], _DIGITS[name])
                if first == 1
                else _ends(spread[first:last], name)
            )
            for name, spread in zip(POOLED, spreads, strict=True)
        ]
        if any(cells):
            lines.append((title, "", "", "", *cells, "", "", ""))
    return lines


def _ends(values: Sequence[float], name: str) -> str:
    return " to ".join(f"{value:z.{_DIGITS[name]}f}" for value in values)


def benefit_lines(
    judged: Sequence[JudgedFold], thresholds: Array, seed: int
) -> dict[str, Any] | None:
    """Return net benefit by place, in patients of 1,000, with intervals; None of three classes."""
    rows = []
    for place in place_risks(judged):
        whom = place.patients
        draws = bootstrap_draws(place.unit, len(whom.y), seed)
        counts = np.hstack([np.ones((len(draws), 1), np.uint8), draws])
        for what, patients in treatments(whom, mended(whom)).items():
            cells = [_benefit(patients, float(t), counts) for t in thresholds]
            rows.append((place.name, what, *cells))
    if not rows:
        return None
    head = ("place", "treated by", *(f"from {100 * t:.3g} % on" for t in thresholds))
    return {"head": head, "rows": rows}


def _benefit(whom: Patients, threshold: float, counts: npt.NDArray[Any]) -> str:
    drawn = 1000 * resampled_benefits(whom, counts, threshold)
    benefit = estimate("", float(drawn[0]), drawn[1:])
    point, low, high = (signed(end, 1) for end in benefit[:3])
    return f"{point} ({low} to {high})"
