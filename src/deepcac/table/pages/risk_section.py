"""The part of the page about risks: calibration, decisions, subgroups, and their pictures."""

import csv
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.errors import DataError
from deepcac.judging.contenders import parse_contender
from deepcac.pages.figures import Figure
from deepcac.scoring.calibration import calibration_curve
from deepcac.scoring.net_benefit import net_benefit_gain, treat_all
from deepcac.scoring.resampled_scores import (
    BRIER,
    INTERCEPT,
    LOSS,
    RATIO,
    SCALED,
    SLOPE,
    Patients,
    patient_draws,
    score_intervals,
)
from deepcac.scoring.small_cells import FEW, format_count
from deepcac.table.answer import Answer
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.comparison_words import contender_name, signed, with_interval
from deepcac.table.held_out_risks import HeldOut
from deepcac.table.inference.labelled_table import LabelledTable
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
from deepcac.table.pages.subgroup_differences import gap_table, subgroup_differences
from deepcac.table.pages.subgroups import (
    ADDED,
    check_columns,
    net_true_positives,
    subgroups,
)
from deepcac.types import Array

_HEAD = ("model", "intercept", "slope", "O/E", "Brier", "scaled Brier", "log loss")
_BY_HEAD = ("subgroup", "rows", "events", "AUROC", "change with clusters", "O/E", "slope")
_FIVE = (0.05, 0.1, 0.2, 0.3, 0.5)  # thresholds of a table, unless others are asked for


class RiskQuestions(NamedTuple):
    """What is asked of the risks.

    Attributes
    ----------
    thresholds : (float, float) or None
        Risks from which a patient may be treated, the lowest and the highest; of a third to three
        times the odds of the event if None.
    by : sequence of str
        Columns that make subgroups.
    """

    thresholds: tuple[float, float] | None = None
    by: Sequence[str] = ()

    @property
    def five(self) -> Array:
        """Five thresholds from the lowest to the highest that is asked for."""
        asked = self.thresholds
        return np.array(_FIVE) if asked is None else np.linspace(*asked, len(_FIVE))


USUAL = RiskQuestions()
DEFAULT = (
    "No thresholds were given. The default is the risks whose odds are a third to three times "
    "those of the event."
)


def risk_questions(thresholds: str | None, by: str | None) -> RiskQuestions:
    """Read the options ``--thresholds`` and ``--by``.

    Raises
    ------
    DataError
        The thresholds are no two risks.
    """
    ends = None
    if thresholds is not None:
        try:
            low, high = (float(part) for part in thresholds.split(","))
        except ValueError:
            low, high = 1.0, 0.0
        if not 0 < low < high < 1:
            raise DataError(
                f"--thresholds {thresholds}: give the lowest and the highest risk from which a "
                "patient is treated, such as 0.05,0.3"
            )
        ends = (low, high)
    # A name with a comma stands in quotation marks, as in CSV.
    parts = next(csv.reader([by or ""], skipinitialspace=True), [])
    names = map(uniform, parts)
    return RiskQuestions(ends, tuple(dict.fromkeys(filter(None, names))))


def check_asked(table: LabelledTable, asked: RiskQuestions) -> None:
    """Raise `DataError` if what is asked has no answer on this table."""
    check_columns(table, asked.by)
    if asked.thresholds and table.features.n_classes != 2:
        raise DataError("--thresholds needs an outcome of two classes")


def risk_section(
    table: LabelledTable,
    held_out: HeldOut,
    answer: Answer,
    asked: RiskQuestions,
) -> dict[str, Any]:
    """Return what the template shows about risks."""
    ends = asked.thresholds
    share = float(held_out.y.mean())
    thresholds = usual_thresholds(share) if ends is None else np.linspace(*ends, 25)
    names = (answer.best, answer.clustered)
    treated = share if ends is None else ends[0]
    same = np.array_equal(held_out.risk[answer.best], held_out.risk[answer.clustered])
    drawn = names[:1] if same else names
    return {
        "worth": worth(held_out, answer.clustered, answer.best, thresholds),
        "range": f"{100 * thresholds[0]:.1f} % to {100 * thresholds[-1]:.1f} %",
        "default": DEFAULT if ends is None else "",
        "figures": [
            calibration_figure(held_out, drawn, table.shown_classes[1]),
            decision_figure(held_out, drawn, thresholds),
            risks_by_outcome(held_out, answer.best, table.shown_classes),
        ],
        "head": _HEAD,
        "rows": [_calibrated(held_out, name) for name in drawn],
        **_by(table, held_out, asked.by, names, treated),
    }


def _calibrated(held_out: HeldOut, name: str) -> tuple[str, ...]:
    whom = Patients(held_out.y, held_out.risk[name])
    fit = score_intervals(whom, patient_draws(held_out.patient))
    cells = [with_interval(fit[score], 2) for score in (SLOPE, RATIO)]
    cells += [with_interval(fit[score], 4) for score in (BRIER, SCALED, LOSS)]
    intercept = fit[INTERCEPT]
    span = f"({signed(intercept.low, 2)} to {signed(intercept.high, 2)})"
    return (contender_name(name), f"{signed(intercept.value, 2)} {span}", *cells)


def _by(
    table: LabelledTable,
    held_out: HeldOut,
    columns: Sequence[str],
    names: tuple[str, str],
    threshold: float,
) -> dict[str, Any]:
    if not columns:
        return {"by_head": (), "by_rows": [], "by_few": "", "gap_head": (), "gap_rows": []}
    shown, few = subgroups(table, held_out, columns, names, threshold)
    rows = [
        (
            f"{subgroup.column} {subgroup.name}",
            *map(format_count, (subgroup.rows, subgroup.events)),
            _span((subgroup.auroc, subgroup.low, min(subgroup.high, 1.0)), "{:.3f}".format),
            _span((subgroup.change, subgroup.change_low, subgroup.change_high), signed),
            *(with_interval(number, 2) for number in (subgroup.ratio, subgroup.slope)),
            _span(subgroup.benefit, _tenths),
        )
        for subgroup in shown
    ]
    gaps = subgroup_differences(table, held_out, shown, names[0], threshold)
    added = net_true_positives(threshold, ADDED)
    return {
        "by_head": (*_BY_HEAD, added), "by_rows": rows, "by_few": ", ".join(few),
        **gap_table(gaps, threshold),
    }  # fmt: skip


def _tenths(number: float) -> str:
    return signed(number, 1)


def _span(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Write a mean with its interval; there is none where nothing varies."""
    mean, low, high = map(write, values)
    return mean if np.isnan(values[1]) else f"{mean} ({low} to {high})"


def calibration_figure(held_out: HeldOut, names: tuple[str, ...], event: str) -> Figure:
    """Draw smooth calibration curves of models with their intervals."""
    curves = {
        name: calibration_curve(held_out.y, held_out.risk[name], held_out.patient) for name in names
    }
    named = {contender_name(name): curve for name, curve in curves.items()}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        draw_calibration(axis, named)
        axis.set(ylabel=f"share of {event}")
        axis.legend(loc="upper left")

    return Figure(
        id="calibration",
        title="Are the risks right?",
        caption=f"Share of {event} at each predicted risk, on test rows of all resamples, with a "
        "pointwise 95 % interval over patients. On the dotted line a risk of 20 % means 20 of 100.",
        section="risks",
        size=(5.2, 4.4),
        draw=draw,
        head=("model", "risk", "observed", "low", "high"),
        data=calibration_lines(curves),
    )


def decision_figure(held_out: HeldOut, names: tuple[str, ...], thresholds: Array) -> Figure:
    """Draw the net benefit of models over thresholds, beside treating all and nobody."""
    nobody, nothing = np.zeros(len(held_out.y)), np.zeros(len(thresholds))
    models = {
        contender_name(name): net_benefit_gain(
            held_out.y, held_out.risk[name], nobody, thresholds, held_out.patient
        )
        for name in names
    }
    everybody = treat_all(held_out.y, thresholds)
    everyone = {"treat all": np.vstack([everybody] * 3), "treat none": np.vstack([nothing] * 3)}
    lines = {name: np.vstack([thresholds, line]) for name, line in (models | everyone).items()}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        draw_decision(axis, lines)
        axis.legend(loc="upper right")

    return Figure(
        id="decision",
        title="Is acting on the risks worth it?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        "the threshold, for each patient, with 95 % intervals over patients. Predictions of all "
        "resamples are pooled.",
        section="risks",
        size=(5.2, 4.0),
        draw=draw,
        head=("model", "threshold", "net_benefit", "low", "high"),
        data=decision_lines(lines),
    )


def risks_by_outcome(held_out: HeldOut, name: str, classes: tuple[str, ...]) -> Figure:
    """Draw how the risks of one model are spread among rows with and without the event."""
    groups = [held_out.y == j for j in range(2)]
    shares = [risk_shares(held_out.risk[name][rows], held_out.patient[rows]) for rows in groups]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        draw_shares(axis, dict(zip(classes, shares, strict=False)))
        axis.set(ylabel=f"share of the rows per {EDGES[1]:g}", xlim=(0, 1))
        axis.legend(loc="upper center", ncols=2)

    return Figure(
        id="risks",
        title="Who is given which risk?",
        caption=f"Predicted risks of {contender_name(name)} on test rows, by what came of them. "
        f"Bars are of rounded counts; of fewer than {FEW} patients there is none.",
        section="risks",
        size=(5.2, 3.2),
        draw=draw,
        head=("from", *classes),
        data=[(float(e), *map(float, row)) for e, *row in zip(EDGES[:-1], *shares, strict=True)],
    )


def worth(held_out: HeldOut, clustered: str, best: str, thresholds: Array) -> str:
    """Say what clusters change at the lowest and the highest threshold, among 1,000 patients."""
    if np.array_equal(held_out.risk[clustered], held_out.risk[best]):
        return "Clusters change no treatment here, because none were chosen."
    same = parse_contender(clustered).learner == best
    what = "clusters change" if same else f"{_instead(clustered, best)} changes"
    gain, low, high = 1000 * net_benefit_gain(
        held_out.y, held_out.risk[clustered], held_out.risk[best], thresholds, held_out.patient
    )
    changes = []
    for j in (0, len(thresholds) - 1):
        change = f"{abs(gain[j]):.1f} {'more' if gain[j] > 0 else 'fewer'}"
        change = change if round(gain[j], 1) else "no change"
        changes.append(
            f"from a risk of {100 * thresholds[j]:.3g} % on, {change} (95 % interval "
            f"{signed(low[j], 1)} to {signed(high[j], 1)})"
        )
    return (
        f"Per 1,000 patients, {what} the net benefit (correctly treated minus weighted "
        f"false alarms): treating {'; '.join(changes)}."
    )


def _instead(clustered: str, best: str) -> str:
    return f"{contender_name(clustered)} in place of {contender_name(best)}"
