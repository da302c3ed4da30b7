"""The part of a comparison's page on risks at a horizon: scores, calibration, use, subtypes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import CAC, KM
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import TrialRecord
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.scoring.censored import (
    FollowUp,
    KaplanMeier,
    incidence_curve,
    kaplan_meier,
    observed_risk,
)
from deepcac.scoring.small_cells import FEW, WITHHELD, format_count, is_few
from deepcac.scoring.statistics import corrected_t_test
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import Trials, bent_line, booster, linear
from deepcac.table.comparison_words import contender_name
from deepcac.table.found_subtypes import FoundClustering
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.horizon_scores import (
    SCORE_HEAD,
    Judged,
    benefit_head,
    benefit_lines,
    drawn_patients,
    rows_as_patients,
    score_line,
)
from deepcac.table.pages.risk_section import RiskQuestions
from deepcac.table.pages.subgroup_risks import JudgedPart, subgroup_lines

GROUPS = 5  # of as many patients each, by predicted risk
LOSS = "log_loss"  # chooses the trial, because risks are judged and not ranks alone
QUARTERS = 4  # of the horizon, where numbers at risk are told
POINTS = 25  # of a curve, so that no single event can be read from it


def horizon_section(
    table: LabelledTable,
    trials: Trials,
    clusterings: list[FoundClustering],
    answer: Answer,
    asked: RiskQuestions,
) -> dict[str, Any] | None:
    """Return what the page shows of a horizon; None where the label has none.

    The trials hold the answers of their resamples; the clusterings are of all rows. Subgroups are
    judged by the best model of the answer.
    """
    follow = table.follow
    if follow is None:
        return None
    plain, bent, trees = linear(), bent_line(), booster()
    names = [
        plain,
        f"{KM}_{plain}",
        f"{CAC}_{plain}",
        bent,
        trees,
        f"{KM}_{trees}",
        f"{CAC}_{trees}",
    ]
    judged = {name: unseen_risks(table, trials.records, name) for name in names}
    shares = trials.records[names[0]].test_share
    tested = follow.take(np.unique(np.concatenate([part.rows for part in judged[names[0]]])))
    share, low, high = observed_risk(tested)
    drawn = drawn_patients(judged[names[0]], table.group)
    groups = {name: _groups(resamples, shares) for name, resamples in judged.items()}
    return {
        "horizon": f"{follow.horizon:g}",
        "judged": format_count(len(tested.time)),
        "estimator": "Kaplan-Meier" if tested.other is None else "Aalen-Johansen",
        "resamples": str(len(judged[names[0]])),
        "observed": f"{100 * share:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f})",
        "score_head": SCORE_HEAD,
        "scores": [score_line(resamples, drawn, name) for name, resamples in judged.items()],
        "calibration": calibration_figure(groups),
        "use_head": benefit_head(asked.five),
        "use": benefit_lines(judged, drawn, asked.five),
        "by": _by(table, _both(table, trials, answer), asked, share),
        "notes": rows_as_patients(table),
        "subtypes": [_subtypes(follow, clustering) for clustering in clusterings],
    }


def _both(table: LabelledTable, trials: Trials, answer: Answer) -> list[JudgedPart]:
    """Return the test patients of each resample, with risks of the best models of either kind."""
    both = zip(
        *(unseen_risks(table, trials.records, name) for name in (answer.best, answer.clustered)),
        strict=True,
    )
    return [JudgedPart(best.rows, best.patients, other.risk) for best, other in both]


def _by(
    table: LabelledTable,
    judged: list[JudgedPart],
    asked: RiskQuestions,
    share: float,
) -> dict[str, Any] | None:
    treated = share if asked.thresholds is None else asked.thresholds[0]
    return subgroup_lines(table, judged, asked.by, treated)


def _over_resamples(values: Sequence[float], test_share: float) -> tuple[float, float, float]:
    """Return a mean over resamples with its corrected 95 % interval."""
    estimate = corrected_t_test(values, n_train=1 - test_share, n_test=test_share)
    return estimate.mean, estimate.low, estimate.high


def _groups(judged: Sequence[Judged], test_share: float) -> list[tuple[float, float, float, float]]:
    """Return predicted and observed risk, with its interval, in groups by predicted risk.

    Means over resamples, each with groups of its own.
    """
    groups = []
    for j in range(GROUPS):
        parts = [
            np.array_split(np.argsort(resample.risk, kind="stable"), GROUPS)[j]
            for resample in judged
        ]
        inside = [resample.follow.take(part) for resample, part in zip(judged, parts, strict=True)]
        risk = float(
            np.mean([resample.risk[p].mean() for resample, p in zip(judged, parts, strict=True)])
        )
        observed = [observed_risk(follow)[0] for follow in inside]
        mean, low, high = _over_resamples(observed, test_share)
        rows = np.concatenate([r.rows[part] for r, part in zip(judged, parts, strict=True)])
        outcome = np.concatenate([follow.outcome for follow in inside])
        counts = [len(np.unique(rows[outcome == code])) for code in range(2)]
        if not is_few(counts).any():
            groups.append((risk, mean, max(low, 0.0), min(high, 1.0)))
    return groups


def _subtypes(follow: FollowUp, clustering: FoundClustering) -> dict[str, Any]:
    parts = [follow.take(clustering.label == subtype.number - 1) for subtype in clustering.subtypes]
    moments = np.linspace(0, follow.horizon, QUARTERS + 1)
    at_risk = np.array([[(part.time >= moment).sum() for moment in moments] for part in parts])
    # A risk is of the events: of few there is none, nor of a subtype of few.
    outcomes = [np.bincount(part.outcome, minlength=2) for part in parts]
    hidden = [
        bool(is_few(counts).any() or np.isnan(subtype.rates).any())
        for counts, subtype in zip(outcomes, clustering.subtypes, strict=True)
    ]
    rows = [
        (
            str(subtype.number),
            *((WITHHELD,) * (QUARTERS + 1) if secret else map(format_count, counts)),
            WITHHELD if secret else _risk(part),
        )
        for subtype, counts, secret, part in zip(
            clustering.subtypes, at_risk, hidden, parts, strict=True
        )
    ]
    curves = {
        subtype.number: _curve(part)
        for subtype, part, secret in zip(clustering.subtypes, parts, hidden, strict=True)
        if not secret and len(part.time) >= FEW
    }
    head = ("subtype", *(f"at risk at {moment:g}" for moment in moments), "risk at the horizon")
    return {
        "title": "Subtypes by CAC" if clustering.arm == CAC else "Subtypes by k-means",
        "arm": clustering.arm,
        "head": head,
        "rows": rows,
        "figure": survival_figure(curves, clustering.arm, follow.horizon),
    }


def _curve(follow: FollowUp) -> KaplanMeier:
    """Return the share without the event: beside competing ones that of Aalen and Johansen."""
    if follow.other is not None:
        return incidence_curve(follow)
    return kaplan_meier(follow.time, follow.event)


def _risk(follow: FollowUp) -> str:
    share, low, high = observed_risk(follow)
    return f"{100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def unseen_risks(
    table: LabelledTable, records: Mapping[str, TrialRecord], contender: str
) -> list[Judged]:
    """Return the risks of the test patients of every resample, each by the model chosen there.

    Parameters
    ----------
    records : mapping
        Contender to record, with its answers.
    contender : str
        One with clusters always uses two or more here.
    """
    if table.follow is None:
        return []
    record = records[contender]
    how = CLUSTERED if record.arm else TUNED
    chosen = choose(open_to(records, contender), how, LOSS).trials
    judged = []
    for trial, answers in zip(chosen, record.answers, strict=True):
        test = answers.part(TEST)
        rows = np.searchsorted(table.features.row_id, test.row_id)
        judged.append(Judged(rows, table.follow.take(rows), test.risk(trial)))
    return judged


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
            shown = [name for name in groups if name.rpartition("_")[2] == learner and groups[name]]
            for place, name in enumerate(shown):
                predicted, observed, low, high = np.array(groups[name]).T
                span = np.maximum([observed - low, high - observed], 0)
                axis.errorbar(predicted, observed, yerr=span, label=contender_name(name),
                              color=PALETTE[place], linestyle=LINES[place], marker="o",
                              markersize=4, elinewidth=0.8)  # fmt: skip
            axis.set(xlabel="predicted risk")
            axis.legend(loc="upper left")
        panels[0].set(ylabel="observed risk")

    return Figure(
        id="horizon_calibration",
        title="Calibration at the horizon",
        caption="Test patients in fifths of predicted risk: means over resamples, each with a "
        "model of its own. Bars: 95 % intervals. On the grey line risks are right.",
        section="horizon",
        size=(8.6, 4.0),
        draw=draw,
        head=("model", "predicted", "observed", "low", "high"),
        data=[(name, *line) for name, lines in groups.items() for line in lines],
    )


def survival_figure(curves: Mapping[int, KaplanMeier], arm: str, horizon: float) -> Figure:
    """Draw the share of patients without the event, a curve a subtype, by its number."""
    moments = np.linspace(0, horizon, POINTS)
    lines = {number: _survival_at(curve, moments) for number, curve in curves.items()}

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
        caption=f"At {POINTS} times, by Kaplan and Meier, with competing events by Aalen and "
        f"Johansen; a curve ends where fewer than {FEW} patients are at risk.",
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


def _survival_at(curve: KaplanMeier, moments: Any) -> tuple[Any, Any]:
    """Return the times at which enough patients are at risk, and the survival there.

    It falls only where `FEW` patients or more had the event since it fell last, and by the end.
    """
    place = np.searchsorted(curve.time, moments, side="left")
    at_risk = np.append(curve.at_risk, 0)[place]
    shown = moments[at_risk >= FEW]
    events = np.append(0, np.cumsum(curve.events))
    seen = events[np.searchsorted(curve.time, moments, side="right")]
    falls = [0.0]
    for moment, so_far in zip(shown, seen, strict=False):
        last = events[np.searchsorted(curve.time, falls[-1], side="right")]
        if so_far - last >= FEW and (seen[-1] == so_far or seen[-1] - so_far >= FEW):
            falls.append(float(moment))
    latest = np.array(falls)[np.searchsorted(falls, shown, side="right") - 1]
    return shown, np.where(latest > 0, curve.at(latest), 1.0)
