"""The part of the page about risks: calibration, decisions, subgroups."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from deepcac.errors import DataError
from deepcac.scoring.calibration import calibration
from deepcac.scoring.small_cells import WITHHELD
from deepcac.table.answer import Answer, contender_name, signed
from deepcac.table.held_out_risks import HeldOut
from deepcac.table.pages.risk_figures import (
    calibration_figure,
    decision_figure,
    risks_by_outcome,
    usual_thresholds,
    worth,
)
from deepcac.table.reading.labelled_table import LabelledTable
from deepcac.table.subgroups import subgroups

_HEAD = ("model", "intercept", "slope", "O/E", "Brier", "scaled Brier", "log loss")
_BY_HEAD = ("subgroup", "rows", "events", "AUROC", "change by clusters", "O/E", "slope")


class RiskQuestions(NamedTuple):
    """What is asked of the risks.

    Attributes
    ----------
    thresholds : (float, float) or None
        Risks from which a patient may be treated, the lowest and the highest; from half the
        share of events to three times it if None.
    by : sequence of str
        Columns that make subgroups.
    """

    thresholds: tuple[float, float] | None = None
    by: Sequence[str] = ()


USUAL = RiskQuestions()


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
    return RiskQuestions(ends, tuple(filter(None, (by or "").split(","))))


def risk_section(
    table: LabelledTable, held_out: HeldOut, found: Answer, asked: RiskQuestions
) -> dict[str, Any]:
    """Return what the template shows about risks."""
    ends = asked.thresholds
    thresholds = usual_thresholds(held_out) if ends is None else np.linspace(*ends, 25)
    names = (found.best, found.clustered)
    middle = float(thresholds[len(thresholds) // 2])
    same = np.array_equal(held_out.risk[found.best], held_out.risk[found.clustered])
    drawn = names[:1] if same else names
    return {
        "worth": worth(held_out, found.clustered, found.best, thresholds),
        "range": f"{100 * thresholds[0]:.1f} % to {100 * thresholds[-1]:.1f} %",
        "figures": [
            calibration_figure(held_out, drawn, table.shown_classes[1]),
            decision_figure(held_out, drawn, thresholds),
            risks_by_outcome(held_out, found.best, table.shown_classes),
        ],
        "head": _HEAD,
        "rows": [_calibrated(held_out, name) for name in drawn],
        **_by(table, held_out, asked.by, names, middle),
    }


def _calibrated(held_out: HeldOut, name: str) -> tuple[str, ...]:
    fit = calibration(held_out.y, held_out.risk[name])
    texts = (signed(fit.intercept, 2), *(f"{value:.2f}" for value in fit[1:3]))
    return (contender_name(name), *texts, *(f"{value:.4f}" for value in fit[3:]))


def _by(
    table: LabelledTable,
    held_out: HeldOut,
    columns: Sequence[str],
    names: tuple[str, str],
    threshold: float,
) -> dict[str, Any]:
    if not columns:
        return {"by_head": (), "by_rows": [], "by_few": ""}
    shown, few = subgroups(table, held_out, columns, names, threshold)
    rows = [
        (
            f"{one.column} {one.name}",
            *(WITHHELD if n is None else f"{n:,}" for n in (one.rows, one.events)),
            _span((one.auroc, one.low, min(one.high, 1.0)), "{:.3f}".format),
            _span((one.change, one.change_low, one.change_high), signed),
            *(f"{one.ratio:.2f}", f"{one.slope:.2f}", signed(one.benefit, 1)),
        )
        for one in shown
    ]
    treated = f"net true positives in 1,000, treating from {100 * threshold:.0f} % on"
    return {"by_head": (*_BY_HEAD, treated), "by_rows": rows, "by_few": ", ".join(few)}


def _span(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Write a mean with its interval; there is none where nothing varies."""
    mean, low, high = map(write, values)
    return mean if np.isnan(values[1]) else f"{mean} ({low} to {high})"
