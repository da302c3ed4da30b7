"""The part of a comparison's page on risks at a horizon: scores, calibration, use, subtypes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import CAC, KM
from deepcac.judging.trials import TEST
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.scoring.censored import (
    FollowUp,
    KaplanMeier,
    auroc_at,
    brier_at,
    kaplan_meier,
    net_benefit_at,
    observed_risk,
)
from deepcac.scoring.small_cells import SMALL, WITHHELD, few_rows
from deepcac.table.answer import contender_name, signed
from deepcac.table.budgeted_trials import Trials, booster, linear
from deepcac.table.found_subtypes import FoundClustering
from deepcac.table.reading.labelled_table import LabelledTable
from deepcac.task import Array, Ids

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
GROUPS = 5  # of as many patients each, by predicted risk
LOSS = "log_loss"  # chooses the trial, because risks are judged and not ranks alone
QUARTERS = 4  # of the horizon, where numbers at risk are told
POINTS = 25  # of a curve, so that no single event can be read from it


def horizon_section(
    table: LabelledTable, trials: Trials, clusterings: list[FoundClustering]
) -> dict[str, Any] | None:
    """Return what the page shows of a horizon; None where the label has none.

    The trials hold the answers of their resamples; the clusterings are of all rows.
    """
    follow = table.follow
    if follow is None:
        return None
    names = [f"{arm}{one}" for one in (linear(), booster()) for arm in ("", f"{KM}_", f"{CAC}_")]
    risks = {name: unseen_risks(trials.records, name, table.features.row_id) for name in names}
    judged = ~np.isnan(risks[names[0]])
    tested = follow.take(judged)
    risks = {name: risk[judged] for name, risk in risks.items()}
    share, low, high = observed_risk(tested)
    groups = {name: _groups(tested, risk) for name, risk in risks.items()}
    return {
        "horizon": f"{follow.horizon:g}",
        "judged": f"{len(tested.time):,}",
        "observed": f"{100 * share:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f})",
        "scores": [_scores(tested, name, risk, share) for name, risk in risks.items()],
        "calibration": calibration_figure(groups),
        "use_head": ("contender", *(f"at {100 * one:.0f} %" for one in THRESHOLDS)),
        "use": _use(tested, risks),
        "subtypes": [_subtypes(follow, one) for one in clusterings],
    }


def _scores(follow: FollowUp, name: str, risk: Array, share: float) -> tuple[str, ...]:
    return (
        contender_name(name),
        f"{auroc_at(follow, risk):.3f}",
        f"{brier_at(follow, risk):.4f}",
        f"{100 * risk.mean():.1f} %",
        f"{share / risk.mean():.2f}",
    )


def _groups(follow: FollowUp, risk: Array) -> list[tuple[float, float, float, float]]:
    """Return predicted and observed risk, with its interval, in groups by predicted risk."""
    parts = np.array_split(np.argsort(risk, kind="stable"), GROUPS)
    known = [np.bincount(follow.outcome[own], minlength=2) for own in parts]
    return [
        (float(risk[own].mean()), *observed_risk(follow.take(own)))
        for own, hidden in zip(parts, few_rows(known), strict=True)
        if not hidden
    ]


def _use(follow: FollowUp, risks: dict[str, Array]) -> list[tuple[str, ...]]:
    """Return net benefit at each threshold, in patients of 1,000, of each contender and of all."""
    everyone = {"treat all": np.ones(len(follow.time))}
    named = {contender_name(name): risk for name, risk in risks.items()} | everyone
    rows = [
        (name, *(signed(1000 * net_benefit_at(follow, risk, one), 1) for one in THRESHOLDS))
        for name, risk in named.items()
    ]
    return [*rows, ("treat none", *("0.0" for _ in THRESHOLDS))]


def _subtypes(follow: FollowUp, one: FoundClustering) -> dict[str, Any]:
    parts = [follow.take(one.label == each.number - 1) for each in one.subtypes]
    moments = np.linspace(0, follow.horizon, QUARTERS + 1)
    at_risk = np.array([[(own.time >= moment).sum() for moment in moments] for own in parts])
    outcomes = [np.bincount(own.outcome, minlength=2) for own in parts]
    hidden = few_rows(np.hstack([at_risk, outcomes]))
    rows = [
        (
            str(each.number),
            *((WITHHELD,) * (QUARTERS + 1) if secret else (f"{n:,}" for n in counts)),
            WITHHELD if secret else _risk(own),
        )
        for each, counts, secret, own in zip(one.subtypes, at_risk, hidden, parts, strict=True)
    ]
    curves = {
        each.number: kaplan_meier(own.time, own.event)
        for each, own, secret in zip(one.subtypes, parts, hidden, strict=True)
        if not secret and len(own.time) >= SMALL
    }
    head = ("subtype", *(f"at risk at {moment:g}" for moment in moments), "risk at the horizon")
    return {
        "title": "Subtypes by CAC" if one.arm == CAC else "Subtypes by k-means",
        "arm": one.arm,
        "head": head,
        "rows": rows,
        "figure": survival_figure(curves, one.arm, follow.horizon),
    }


def _risk(own: FollowUp) -> str:
    share, low, high = observed_risk(own)
    return f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def unseen_risks(records: Mapping[str, dict[str, Any]], contender: str, row_id: Ids) -> Array:
    """Return the mean risk of each patient over the resamples in which it was a test row.

    Parameters
    ----------
    records : mapping
        Contender to record, whose resamples hold ``answers`` (`deepcac.judging.trials`).
    contender : str
        One with clusters always uses two or more here.
    row_id : ndarray of shape (n,), int64
        Ascending.

    Returns
    -------
    ndarray of shape (n,)
        NaN for a patient that was in no test.
    """
    record = records[contender]
    how = CLUSTERED if record["arm"] else TUNED
    chosen = choose(open_to(records, contender), how, LOSS).trials
    total, count = np.zeros(len(row_id)), np.zeros(len(row_id))
    for trial, sample in zip(chosen, record["resamples"], strict=True):
        answers = sample["answers"]
        test = np.asarray(answers["part"]) == TEST
        place = np.searchsorted(row_id, np.asarray(answers["row_id"])[test])
        total[place] += np.asarray(answers[f"t{trial}_1"], dtype=np.float64)[test]
        count[place] += 1
    return np.divide(total, count, out=np.full(len(row_id), np.nan), where=count > 0)


def calibration_figure(
    groups: Mapping[str, Sequence[tuple[float, float, float, float]]],
) -> Figure:
    """Draw observed against predicted risk in groups, a panel a learner.

    Parameters
    ----------
    groups : mapping
        Contender to predicted risk, observed risk and its interval, of each group.
    """
    learners = list(dict.fromkeys(name.rpartition("_")[2] for name in groups))

    def draw(canvas: Canvas) -> None:
        panels = np.atleast_1d(canvas.subplots(1, len(learners), sharex=True, sharey=True))
        for axis, learner in zip(panels, learners, strict=True):
            axis.axline((0, 0), slope=1, color="#888888", linewidth=0.8)
            own = [name for name in groups if name.rpartition("_")[2] == learner and groups[name]]
            for place, name in enumerate(own):
                predicted, observed, low, high = np.array(groups[name]).T
                span = np.maximum([observed - low, high - observed], 0)
                axis.errorbar(predicted, observed, yerr=span, label=contender_name(name),
                              color=PALETTE[place], linestyle=LINES[place], marker="o",
                              markersize=4, elinewidth=0.8)  # fmt: skip
            axis.set(xlabel="predicted risk")
            axis.legend(loc="upper left")
        panels[0].set(ylabel="observed risk (Kaplan-Meier)")

    return Figure(
        id="horizon_calibration",
        title="Calibration at the horizon",
        caption="Patients in fifths of predicted risk, each judged by models that had not seen "
        "them. Bars: 95 % intervals. On the grey line risks are right.",
        section="horizon",
        size=(8.6, 4.0),
        draw=draw,
        head=("contender", "predicted", "observed", "low", "high"),
        data=[(name, *one) for name, own in groups.items() for one in own],
    )


def survival_figure(curves: Mapping[int, KaplanMeier], arm: str, horizon: float) -> Figure:
    """Draw the share of patients without the event, a curve a subtype, by its number."""
    moments = np.linspace(0, horizon, POINTS)
    lines = {number: _told(curve, moments) for number, curve in curves.items()}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, (number, (shown, survival)) in enumerate(lines.items()):
            style: Any = {"color": PALETTE[place % 7], "linestyle": LINES[place % len(LINES)]}
            axis.step(shown, survival, where="post", label=f"subtype {number}", **style)
        axis.set(xlim=(0, horizon), ylim=(0, 1.02), xlabel="time", ylabel="without the event")
        if lines:
            axis.legend(loc="lower left")

    return Figure(
        id=f"survival_{arm}",
        title="Without the event, by subtype",
        caption=f"Kaplan-Meier, at {POINTS} times; a curve ends where fewer than {SMALL} patients "
        "are at risk.",
        section="horizon",
        size=(6.5, 3.6),
        draw=draw,
        head=("subtype", "time", "without_event"),
        data=[
            (str(number), float(moment), float(value))
            for number, line in lines.items()
            for moment, value in zip(*line, strict=True)
        ],
    )


def _told(curve: KaplanMeier, moments: Any) -> tuple[Any, Any]:
    """Return the times at which enough patients are at risk, and the survival there."""
    place = np.searchsorted(curve.time, moments, side="left")
    at_risk = np.append(curve.at_risk, 0)[place]
    shown = moments[at_risk >= SMALL]
    return shown, curve.at(shown)
