"""The risks of the best model in other places: scores, calibration, net benefit, refitted too."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from scipy import stats

from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.calibration import calibration_curve, recalibrated
from deepcac.scoring.censored import net_benefit_at
from deepcac.scoring.net_benefit import net_benefit
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.resampled_scores import (
    AUROC,
    BRIER,
    INTERCEPT,
    MENDED,
    RATIO,
    SLOPE,
    Patients,
    estimate,
    perfect_ranking,
    resampled_benefits,
    scaled,
    unscaled,
)
from deepcac.scoring.small_cells import format_count
from deepcac.table.comparison_words import contender_name, signed
from deepcac.table.elsewhere.fold_trials import JudgedFold, bootstrap_draws
from deepcac.types import Array

AS_THEY_ARE, REFITTED = "risks as they are", "risks recalibrated"
_POOLED = (AUROC, RATIO, SLOPE)
_POINTS = 25  # of a curve
_MOST_PANELS, _ABREAST = 9, 3
_DIGITS = {AUROC: 3, RATIO: 2, SLOPE: 2, INTERCEPT: 2, BRIER: 4, MENDED: 4}


class Spread(NamedTuple):
    """A score over places: its mean with a 95 % interval, and where that of a new place lies."""

    mean: float
    low: float
    high: float
    new_low: float
    new_high: float


def over_sites(judged: Sequence[JudgedFold], name: str) -> Spread | None:
    """Pool a score of the best model over places by random effects; None of fewer than two.

    The log odds of the AUROC are pooled, the log of O/E, and the slope itself (Snell et al. 2018).
    """
    folds = [fold for fold in judged if fold.model.scores]
    if len(folds) < 2:
        return None
    values, errors = zip(*(_site_score(fold, name) for fold in folds), strict=True)
    pooled = pool_sites(list(values), list(errors))
    half = float(stats.t.ppf(0.975, pooled.freedom)) * pooled.error
    ends = (pooled.mean, pooled.mean - half, pooled.mean + half, pooled.new_low, pooled.new_high)
    return Spread(*unscaled(name, np.array(ends)).tolist())


def _site_score(fold: JudgedFold, name: str) -> tuple[float, float]:
    """Return a score of a site, on its `scaled` form, and its error."""
    score = fold.model.scores[name]
    if name == AUROC and score.value >= 1:
        return perfect_ranking(int(fold.counts[1]), int(fold.counts[0]))
    return float(scaled(name, np.array(score.value))), max(score.error, 1e-9)


def score_lines(judged: Sequence[JudgedFold]) -> dict[str, Any]:
    """Return discrimination and calibration of the best model without clusters, by place."""
    binary = bool(judged[0].model.scores)
    rows: list[tuple[str, ...]] = []
    for fold in judged:
        counts = (sum(fold.counts), *([fold.counts[1]] if binary else []))
        shown = map(format_count, counts)
        model = fold.model
        first = _span((model.auroc, model.low, model.high), 3)
        more = [
            _span(model.scores[name][:3], digits)
            for name, digits in _DIGITS.items()
            if binary and name != AUROC
        ]
        rows.append((fold.name, *shown, contender_name(model.name), first, *more))
    head = ["place", "rows", *["events"] * binary, "model", "AUROC (95 % interval)"]
    if binary:
        head += ["observed / expected", "slope", "intercept", "Brier", "Brier, recalibrated"]
        rows += _pooled_lines(judged)
    return {"head": tuple(head), "rows": rows}


def _pooled_lines(judged: Sequence[JudgedFold]) -> list[tuple[str, ...]]:
    spreads = [over_sites(judged, name) for name in _POOLED]
    lines = []
    for title, first, last in (("all sites, pooled", 1, 3), ("a new site, expected", 3, 5)):
        cells = [
            ""
            if spread is None or np.isnan(spread[first])
            else (
                _span(spread[:3], _DIGITS[name]) if first == 1 else _ends(spread[first:last], name)
            )
            for name, spread in zip(_POOLED, spreads, strict=True)
        ]
        if any(cells):
            lines.append((title, "", "", "", *cells, "", "", ""))
    return lines


def _ends(values: Sequence[float], name: str) -> str:
    return " to ".join(f"{value:z.{_DIGITS[name]}f}" for value in values)


def _span(values: Sequence[float], digits: int) -> str:
    mean, low, high = (f"{value:z.{digits}f}" for value in values)
    return f"{mean} ({low} to {high})"


def mended(whom: Patients) -> Patients:
    """Return the patients with risks whose intercept and slope are refitted on them."""
    weight = None if whom.follow is None else whom.follow.weights()
    return whom._replace(risk=recalibrated(whom.y, whom.risk, weight).risk)


def benefits(whom: Patients, thresholds: Array) -> Array:
    """Return the net benefit at thresholds (T,), by Kaplan-Meier at a horizon."""
    if whom.follow is None:
        return net_benefit(whom.y, whom.risk, thresholds)
    return np.array([net_benefit_at(whom.follow, whom.risk, float(t)) for t in thresholds])


def benefit_lines(
    judged: Sequence[JudgedFold], thresholds: Array, seed: int
) -> dict[str, Any] | None:
    """Return net benefit by place, in patients of 1,000, with intervals; None of three classes."""
    rows = []
    for fold in _with_risks(judged):
        whom = fold.model.patients
        draws = bootstrap_draws(fold.model.unit, len(whom.y), seed)
        everyone = whom._replace(risk=np.ones(len(whom.y)))
        named = {AS_THEY_ARE: whom, REFITTED: mended(whom), "treat all": everyone}
        for what, patients in named.items():
            points = benefits(patients, thresholds)
            cells = [
                _benefit(patients, float(point), float(t), draws)
                for point, t in zip(points, thresholds, strict=True)
            ]
            rows.append((fold.name, what, *cells))
    if not rows:
        return None
    head = ("place", "treated by", *(f"from {100 * t:.3g} % on" for t in thresholds))
    return {"head": head, "rows": rows}


def _grid(thresholds: Array) -> Array:
    return np.linspace(thresholds[0], thresholds[-1], _POINTS)


def _benefit(whom: Patients, point: float, threshold: float, draws: npt.NDArray[Any]) -> str:
    benefit = estimate("", point, resampled_benefits(whom, draws, threshold))
    low, high = (signed(1000 * end, 1) for end in (benefit.low, benefit.high))
    return f"{signed(1000 * point, 1)} ({low} to {high})"


def _with_risks(judged: Sequence[JudgedFold]) -> list[Any]:
    return [fold for fold in judged if fold.model.patients is not None]


def calibration_panels(judged: Sequence[JudgedFold], event: str) -> Figure | None:
    """Draw smooth calibration curves before and after recalibration, a panel per place."""
    curves = {}
    for fold in _with_risks(judged)[:_MOST_PANELS]:
        whom, unit = fold.model.patients, fold.model.unit
        patient = np.arange(len(whom.y)) if unit is None else unit
        weight = None if whom.follow is None else whom.follow.weights()
        curves[fold.name] = {
            what: calibration_curve(whom.y, patients.risk, patient, weight)
            for what, patients in ((AS_THEY_ARE, whom), (REFITTED, mended(whom)))
        }
    if not curves:
        return None

    def panel(axis: Axes, name: str) -> None:
        for colour, dash, (what, curve) in zip(
            PALETTE, ("-", "--"), curves[name].items(), strict=False
        ):
            axis.plot(curve.risk, curve.observed, color=colour, linestyle=dash, label=what)
            axis.fill_between(
                curve.risk, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0
            )
        most = max(float(curve.risk.max()) for curve in curves[name].values())
        axis.plot([0, most], [0, most], color="#888888", linewidth=0.8, linestyle=":")
        axis.set(xlim=(0, most), ylim=(0, 1), xlabel="predicted risk", ylabel="observed share")

    return _panels(
        list(curves), panel, id="place_calibration", title="Are the risks right there?",
        caption=f"Share of {event} at each predicted risk, with a pointwise 95 % interval: the "
        "risks as they are, and with intercept and slope refitted on the same patients. On the "
        f"dotted line risks are right.{_only(judged)}",
        head=("place", "risks", "risk", "observed", "low", "high"),
        data=[
            (name, what, *map(float, line))
            for name, named_curves in curves.items()
            for what, curve in named_curves.items()
            for line in zip(*curve, strict=True)
        ],
    )  # fmt: skip


def benefit_panels(judged: Sequence[JudgedFold], thresholds: Array) -> Figure | None:
    """Draw net benefit over thresholds before and after recalibration, a panel per place."""
    grid = _grid(thresholds)
    lines = {}
    for fold in _with_risks(judged)[:_MOST_PANELS]:
        whom = fold.model.patients
        everyone = whom._replace(risk=np.ones(len(whom.y)))
        named = {AS_THEY_ARE: whom, REFITTED: mended(whom), "treat all": everyone}
        by_treatment = {what: (grid, benefits(rows, grid)) for what, rows in named.items()}
        lines[fold.name] = by_treatment | {"treat none": (grid, 0 * grid)}
    if not lines:
        return None
    looks = ((PALETTE[0], "-"), (PALETTE[1], "--"), ("#888888", "-."), ("#888888", ":"))

    def panel(axis: Axes, name: str) -> None:
        for (colour, dash), (what, line) in zip(looks, lines[name].items(), strict=True):
            axis.plot(*line, color=colour, linestyle=dash, label=what)
        highest = max(float(values.max(initial=0.01)) for _, values in lines[name].values())
        axis.set(xlabel="treat from this risk on", ylabel="net benefit per patient")
        axis.set(ylim=(-0.25 * highest, 1.15 * highest))

    return _panels(
        list(lines), panel, id="place_benefit", title="Is acting on the risks worth it there?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        f"the threshold, per patient.{_only(judged)}",
        head=("place", "treated_by", "threshold", "net_benefit"),
        data=[
            (name, what, float(t), float(value))
            for name, by_treatment in lines.items()
            for what, line in by_treatment.items()
            for t, value in zip(*line, strict=True)
        ],
    )  # fmt: skip


def _only(judged: Sequence[JudgedFold]) -> str:
    if len(judged) <= _MOST_PANELS:
        return ""
    return f" The {_MOST_PANELS} largest of {len(judged)} places are drawn."


def _panels(
    names: list[str], panel: Callable[[Axes, str], None], *, id: str, title: str, caption: str,
    head: Sequence[str], data: Sequence[Sequence[object]],
) -> Figure:  # fmt: skip
    abreast = min(len(names), _ABREAST)
    down = -(-len(names) // abreast)

    def draw(canvas: Canvas) -> None:
        axes = np.atleast_1d(canvas.subplots(down, abreast, squeeze=False)).ravel()
        for axis, name in zip(axes, names, strict=False):
            panel(axis, name)
            axis.set_title(name)
        for axis in axes[len(names) :]:
            axis.set_axis_off()
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=2)

    size = (5.4, 4.4) if len(names) == 1 else (3.1 * abreast, 0.7 + 2.9 * down)
    return Figure(id, title, caption, "places", size, draw, head, data)
