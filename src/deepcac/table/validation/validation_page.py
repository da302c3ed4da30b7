"""The page of a validation: the answer and its picture first, then every score."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import Figure
from deepcac.scoring.calibration import calibration_curve
from deepcac.scoring.resampled_scores import (
    AUPRC,
    AUROC,
    BRIER,
    ICI,
    INTERCEPT,
    LOSS,
    RATIO,
    SCALED,
    SLOPE,
)
from deepcac.scoring.small_cells import FEW, format_count
from deepcac.table.comparison_words import signed, with_interval
from deepcac.table.output_files import StrPath
from deepcac.table.page_text import quotable
from deepcac.table.pages.own_pages import write_page
from deepcac.table.pages.place_pictures import POOLED, calibration_panels
from deepcac.table.pages.risk_pictures import (
    EDGES,
    calibration_lines,
    decision_lines,
    draw_calibration,
    draw_decision,
    draw_shares,
    risk_shares,
    usual_thresholds,
)
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.pages.subgroup_risks import JudgedPart, subgroup_lines
from deepcac.table.validation.validation_scores import REFIT, Benefit, Scores, Validation
from deepcac.types import Array

DIGITS = {
    AUROC: 3, AUPRC: 3, RATIO: 2, INTERCEPT: 2, SLOPE: 2, ICI: 4, BRIER: 4, SCALED: 4, LOSS: 4,
}  # fmt: skip
NAMES = {
    AUROC: "AUROC", AUPRC: "AUPRC", RATIO: "observed / expected events",
    INTERCEPT: "calibration intercept", SLOPE: "calibration slope",
    ICI: "calibration index (ICI)", BRIER: "Brier score", SCALED: "scaled Brier score",
    LOSS: "log loss",
}  # fmt: skip
_BEST = {
    AUROC: "1; by chance 0.5", AUPRC: "1; by chance {share:.2f}", RATIO: "1", INTERCEPT: "0",
    SLOPE: "1", ICI: "0", BRIER: "0", SCALED: "1; the same risk for all 0", LOSS: "0",
}  # fmt: skip
_OF_UPDATES = (AUROC, RATIO, SLOPE, BRIER, LOSS)
_OF_SITES = (AUROC, RATIO, SLOPE, INTERCEPT, BRIER)


def write_validation_page(
    path: StrPath, validation: Validation, asked: RiskQuestions, command: str, answer: Sequence[str]
) -> dict[str, Any]:
    """Write the page and return its content; `answer` has a line each, the first is the headline.

    Parameters
    ----------
    validation : Validation
    asked : RiskQuestions
        Thresholds and columns of subgroups.
    command : str
        As typed.
    """
    table, source = validation.validated.table, validation.validated.source
    binary = len(validation.scores) == 1
    model_columns = () if source.model is None else source.model.encoder.columns
    content = {
        "command": command,
        "table": table,
        "names": quotable(model_columns, (source.column or "", validation.validated.site or "")),
        "source": source.name,
        "answer": answer,
        "horizon": None if table.follow is None else f"{table.follow.horizon:g}",
        "calibration": calibration_picture(validation),
        "scores": score_table(validation),
        "benefit": benefit_section(validation, asked) if binary else None,
        "sites": site_section(validation),
        "by": subgroup_section(validation, asked),
        "updates": update_table(validation) if binary else None,
        "method": _method(validation),
    }
    write_page(path, "validate.html", content)
    return content


def calibration_picture(validation: Validation) -> Figure:
    """Draw calibration curves, and below them how the risks are spread."""
    validated = validation.validated
    unit, curves, shares = validated.unit, {}, {}
    for event, whom in validated.patients.items():
        weight = None if whom.follow is None else whom.follow.weights()
        curves[event] = calibration_curve(whom.y, whom.risk, unit, weight)
        shares[event] = risk_shares(whom.risk, unit)
    names = list(curves)
    if len(names) == 1 and validated.table.follow is None:
        (whom,) = validated.patients.values()
        shares = {
            name: risk_shares(whom.risk[whom.y == c], unit[whom.y == c])
            for c, name in enumerate(validated.table.shown_classes)
        }
    most = max(1.05 * max(float(curve.risk.max()) for curve in curves.values()), _end(shares))

    def draw(canvas: Canvas) -> None:
        above, below = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        draw_calibration(above, curves)
        draw_shares(below, shares)
        above.set(xlabel="", ylabel="observed share", xlim=(0, min(most, 1)), ylim=(0, 1))
        below.set(ylabel="share of rows")
        if len(names) > 1:
            above.legend(loc="upper left")
        if len(shares) > 1 and len(names) == 1:
            below.legend(loc="upper right", ncols=2)

    of = f"Share of {names[0]}" if len(names) == 1 else "Share of each class"
    return Figure(
        id="calibration",
        title="Are the risks right?",
        caption=f"{of} at each predicted risk, with a pointwise 95 % interval; on the dotted line "
        f"risks are right. Below: how the risks are spread, no bar for fewer than {FEW} patients.",
        section="answer",
        size=(5.2, 4.6),
        draw=draw,
        head=("event", "risk", "observed", "low", "high"),
        data=calibration_lines(curves),
    )


def _end(shares: dict[str, Array]) -> float:
    """Return the end of the last bar."""
    filled = np.flatnonzero(np.max(list(shares.values()), axis=0) > 0)
    return float(EDGES[filled[-1] + 1]) if len(filled) else 1.0


def score_table(validation: Validation) -> dict[str, Any]:
    """Return every score with its interval, and what would be best."""
    several = len(validation.scores) > 1
    rows = [
        (
            NAMES[name],
            *[event] * several,
            with_interval(scores[name], digits)
            if scores[name].value == scores[name].value
            else "not defined",
            _BEST[name].format(share=float(np.mean(validation.validated.patients[event].y)))
            if name == AUPRC and several
            else _BEST[name].format(share=validation.share),
        )
        for name, digits in DIGITS.items()
        for event, scores in validation.scores.items()
    ]
    head = ("score", *["class"] * several, "value (95 % interval)", "best")
    return {"head": head, "rows": rows}


def benefit_section(validation: Validation, asked: RiskQuestions) -> dict[str, Any]:
    """Return net benefit at thresholds, and its picture."""
    ends = asked.thresholds
    grid = usual_thresholds(validation.share) if ends is None else np.linspace(*ends, 25)
    benefits = validation.benefits(grid)
    low = [[getattr(b.value, part) for b in benefits] for part in ("value", "low", "high")]
    lines = {
        "by risk": np.vstack([grid, low]),
        "treat all": np.vstack([grid, [b.everybody.value for b in benefits]]),
        "treat none": np.vstack([grid, 0 * grid]),
    }

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        draw_decision(axis, lines)
        axis.legend(loc="upper right")

    figure = Figure(
        id="decision",
        title="Is acting on the risks worth it?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        "the threshold, for each patient, with 95 % intervals.",
        section="benefit",
        size=(5.2, 3.8),
        draw=draw,
        head=("treated", "threshold", "net_benefit", "low", "high"),
        data=decision_lines(lines),
    )
    head = ("treat from", "net benefit of 1,000", "standardised", "treat all, of 1,000")
    rows = [_benefit(benefit) for benefit in validation.benefits(asked.five)]
    return {"figure": figure, "head": head, "rows": rows}


def _benefit(benefit: Benefit) -> tuple[str, ...]:
    points = [benefit.value, benefit.everybody]
    net, everybody = (
        "{} ({} to {})".format(*(signed(1000 * end, 1) for end in point[:3])) for point in points
    )
    standardised = with_interval(benefit.standardised, 2)
    return (f"{100 * benefit.threshold:.3g} %", net, standardised, everybody)


def site_section(validation: Validation) -> dict[str, Any] | None:
    """Return the scores of each site and over all, with calibration by site; None of no sites."""
    places, few = validation.places
    if len(places) + len(few) < 2:
        return None
    rows = [
        (
            place.name,
            *map(format_count, (len(place.patients.y), int(place.patients.y.sum()))),
            *(with_interval(place.scores[name], DIGITS[name]) for name in _OF_SITES),
        )
        for place in places
    ]
    spreads = [validation.over_places(name) for name in POOLED]
    if all(spread is not None for spread in spreads):
        rest = [""] * (len(_OF_SITES) - len(POOLED))
        pooled, new = (
            [
                with_interval(spread[:3], DIGITS[name])
                if part == 0
                else " to ".join(f"{end:z.{DIGITS[name]}f}" for end in spread[3:])
                for name, spread in zip(POOLED, spreads, strict=True)
            ]
            for part in range(2)
        )
        rows += [("all sites, pooled", "", "", *pooled, *rest)]
        rows += [("a new site, expected", "", "", *new, *rest)]
    event = validation.validated.table.shown_classes[1]
    return {
        "head": ("site", "rows", "events", *(NAMES[name] for name in _OF_SITES)),
        "rows": rows,
        "few": len(few),
        "figure": calibration_panels(places, event, mend=False) if places else None,
    }


def subgroup_section(validation: Validation, asked: RiskQuestions) -> dict[str, Any] | None:
    """Return the table of subgroups; None if none are asked for."""
    if not asked.by:
        return None
    (whom,) = validation.validated.patients.values()
    treated = validation.share if asked.thresholds is None else asked.thresholds[0]
    part = JudgedPart(np.arange(len(whom.y)), whom)
    return subgroup_lines(validation.validated.table, [part], asked.by, treated)


def update_table(validation: Validation) -> dict[str, Any]:
    """Return the scores after each kind of update."""
    rows = [(name, *_cells(scores)) for name, scores in validation.updates.items()]
    head = ("update", *(NAMES[name] for name in _OF_UPDATES))
    return {"head": head, "rows": rows, "refit": REFIT in validation.updates}


def _cells(scores: Scores) -> list[str]:
    return [with_interval(scores[name], DIGITS[name]) for name in _OF_UPDATES]


def _method(validation: Validation) -> list[str]:
    timed = (
        "At the horizon every score is weighted by the inverse chance of being still followed, "
        "learnt from these patients and again in every sample: AUROC(t) is the cumulative/dynamic "
        "one (Uno et al. 2007), Brier(t) that of Graf et al. (1999). Observed events are those of "
        "Kaplan and Meier, with competing events of Aalen and Johansen, also among the treated."
    )
    apart = (
        "The patients are taken to be others than those of the fit, on whom every model looks too "
        "good."
    )
    return [
        f"Intervals: {validation.draws.shape[1]} bootstrap draws of the patients, whose rows stay "
        "together; normal, AUROC and AUPRC on log odds, O/E and ICI on logarithms. The risks are "
        "held fixed.",
        *([apart] if validation.validated.source.model is not None else []),
        "ICI: the mean distance between a risk and the calibration curve at it. The curve is a "
        "logistic regression on a cubic spline of the log odds with four knots, linear beyond the "
        "outer ones. Even right risks have an ICI above 0 in a table of finite size.",
        "Scaled Brier: 1 minus the Brier score over that of the share of events for everybody. "
        "Standardised net benefit: net benefit over that share, so that 1 is the largest.",
        *([timed] if validation.validated.table.follow is not None else []),
    ]
