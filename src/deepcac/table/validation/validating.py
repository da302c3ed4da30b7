"""`deepcac validate`: read risks and outcomes, score, write page and card, say the answer."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from deepcac.files.output_files import StrPath, check_output
from deepcac.judging.predictions import Predictions
from deepcac.pages.sections import Block, Section
from deepcac.scoring.calibration import calibration_intercept, log_odds, recalibrated
from deepcac.scoring.resampled_scores import (
    AUROC,
    ICI,
    RATIO,
    SLOPE,
    Estimate,
    index_interval,
    score_intervals,
)
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, with_interval
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.model_card import (
    Facts,
    card_path,
    joined,
    table_facts,
    usual_facts,
    write_card_of,
)
from deepcac.table.choice_folds import patient_folds
from deepcac.table.cluster_answer import ENOUGH_EVENTS
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.pages.page_sections import (
    Page,
    page_names,
    quotable,
    remarks_on,
    write_page,
)
from deepcac.table.pages.risk_figures import calibration_figure
from deepcac.table.pages.risk_section import (
    TIMED,
    RiskQuestions,
    benefit_blocks,
    check_asked,
    levels_of,
    subgroup_section,
)
from deepcac.table.pages.score_tables import (
    SCORE_NOTE,
    Place,
    place_blocks,
    score_places,
    score_table,
)
from deepcac.table.risk_model import RiskModel, refitted
from deepcac.table.validation.validated_risks import RiskSource, Validated, read_validated

FOLDS = 10
NONE, INTERCEPT_ONLY, BOTH, REFIT = (
    "none", "intercept", "intercept and slope", "all coefficients",
)  # fmt: skip
_INDEX_DRAWS = 200  # a fit of the curve in each

Scores = dict[str, Estimate]
EventScores = Mapping[str, Mapping[str, Estimate]]


def event_scores(predictions: Predictions) -> Scores:
    """Return all scores of one event."""
    (name,) = predictions.risk
    whom, draws = predictions.of(name), predictions.draws
    return score_intervals(whom, draws) | {ICI: index_interval(whom, draws[:, :_INDEX_DRAWS])}


def site_places(validated: Validated) -> tuple[dict[str, Place], list[str]]:
    """Return sites with ten rows of each outcome, the largest first, and the names of the others.

    None of an outcome of more than two classes.
    """
    if validated.site is None or len(validated.predictions) > 1:
        return {}, []
    (predictions,) = validated.predictions.values()
    places, few = score_places(predictions, levels_of(validated.table, validated.site))
    ordered = sorted(places, key=lambda name: -places[name].predictions.rows)
    return {name: places[name] for name in ordered}, [name for name, *_ in few]


def updates(validated: Validated) -> dict[str, Scores]:
    """Return scores of updated risks, fitted in ten folds on the other patients; of two classes.

    The update "all coefficients" is that of a logistic regression of `deepcac fit`, with splines or
    without, whose columns, knots, clusters and penalty stay.
    """
    (predictions,) = validated.predictions.values()
    whom = predictions.of(validated.source.name)
    risks = {NONE: whom.risk} | {name: np.empty(len(whom.y)) for name in (INTERCEPT_ONLY, BOTH)}
    model, X = validated.source.model, validated.X
    for test in patient_folds(whom.y, validated.table.group, FOLDS, 0):
        train = np.setdiff1d(np.arange(len(whom.y)), test)
        part, given = whom.take(train), whom.risk[test]
        weight = np.ones(len(train)) if part.follow is None else part.follow.weights()
        shift = calibration_intercept(part.y, part.risk, weight)
        risks[INTERCEPT_ONLY][test] = 1 / (1 + np.exp(-log_odds(given) - shift))
        risks[BOTH][test] = recalibrated(part.y, part.risk, weight).of(given)
        if isinstance(model, RiskModel) and not model.boosted and X is not None:
            labelled = weight > 0
            learnt = refitted(model, X[train][labelled], part.y[labelled], weight[labelled])
            refits = risks.setdefault(REFIT, np.empty(len(whom.y)))
            refits[test] = learnt.answers(X[test])[0][:, 1]
    return {
        name: score_intervals(whom._replace(risk=risk), predictions.draws)
        for name, risk in risks.items()
    }


def validate_table(
    path: DescribedTable,
    source: RiskSource,
    out: StrPath,
    run: TableRun,
    *,
    asked: RiskQuestions,
    accept: bool = False,
) -> str:
    """Score risks on a table with outcomes; write page and card and return the answer.

    Parameters
    ----------
    path : DescribedTable
    out : path-like
        The page to write.
    source : RiskSource
        The model, or the column of risks.
    run : TableRun
    asked : RiskQuestions
    accept : bool
        Whether to score rows that are mostly unlike those of the fit.

    Raises
    ------
    ConfigError, DataError
        See `read_validated`.
    """
    check_output(out, path, *source.files)
    card = card_path(out, path, *source.files)
    validated = read_validated(path, source, asked.by, accept=accept)
    check_asked(validated.table, asked)
    validated.table.tell(run.say)
    scores = {name: event_scores(part) for name, part in validated.predictions.items()}
    answer = validation_answer(validated, scores)
    page = validation_page(validated, scores, answer, asked, run.command)
    for line in answer.also:
        run.say(line)
    shown = write_page(out, page, exact=run.exact)
    write_card_of(card, shown, _facts(path, validated, run.command), run)
    return answer.sentence


def validation_answer(validated: Validated, scores: EventScores) -> Answer:
    """Return the headline, and sentences on calibration and on how much the numbers weigh.

    `scores` are those of each event.
    """
    counts, events = event_counts(validated), list(scores)
    if len(events) > 1:
        aurocs = ", ".join(
            f"{event} {of_event[AUROC].value:.2f}" for event, of_event in scores.items()
        )
        first = Text("AUROC against the other classes: {}; {} rows.", aurocs, Count(sum(counts)))
        return Answer(first, also=_few_events_warning(counts))
    (of_event,) = scores.values()
    shown = {AUROC: "AUROC", RATIO: "observed/expected", SLOPE: "slope"}
    numbers = ", ".join(
        f"{name} {with_interval(of_event[score], 2)}"
        for score, name in shown.items()
        if not np.isnan(of_event[score].value)
    )
    n = len(validated.risk)
    first = Text("{}; {} events in {} rows.", numbers, Count(counts[1]), Count(n))
    return Answer(first, also=[_verdict(of_event), *_few_events_warning(counts)])


def _verdict(scores: Mapping[str, Any]) -> str:
    """Describe what the intervals of AUROC, O/E and slope exclude."""
    rank, ratio, slope = (scores[name] for name in (AUROC, RATIO, SLOPE))
    sentences, wrong = [], []
    low = np.isnan(ratio.value) or ratio.low > 1  # no event is expected where it is no number
    if rank.high < 0.5:
        sentences.append("The risks rank patients the wrong way round.")
    elif not rank.low > 0.5:
        sentences.append("There is no evidence that the risks rank patients.")
    if low or ratio.high < 1:
        wrong.append(f"too {'low' if low else 'high'} on average")
    if slope.low > 1 or 0 < slope.high < 1:
        wrong.append(f"too {'moderate' if slope.low > 1 else 'extreme'}")
    if wrong:
        sentences.append(f"The risks are {' and '.join(wrong)}.")
    if not sentences:
        right = "O/E is" if np.isnan(slope.value) else "O/E and slope are"
        sentences.append(f"We found no miscalibration: {right} compatible with 1.")
    return " ".join(sentences)


def event_counts(validated: Validated) -> list[int]:
    """Return the rows of each class whose outcome is known."""
    label, follow = validated.table.features.label, validated.table.follow
    labelled = label if follow is None else label[follow.outcome_known]
    return [int(n) for n in np.bincount(labelled, minlength=len(validated.table.classes))]


def _few_events_warning(counts: Sequence[int]) -> list[str]:
    """Warn where a class is too rare for a validation (Vergouwe et al. 2005)."""
    if min(counts) >= ENOUGH_EVENTS:
        return []
    what = "rows of the rarest class" if len(counts) > 2 else "events"
    if len(counts) == 2 and counts[0] < counts[1]:
        what = "patients without the event"
    return [
        Text(
            "Warning: there are fewer than {} {}, so that a validation is uncertain, whatever its "
            "intervals (Vergouwe et al. 2005).",
            *(ENOUGH_EVENTS, what),
        )
    ]


def _facts(path: DescribedTable, validated: Validated, command: str) -> Facts:
    """Return the lines of a card on the table and on the model."""
    table, name = validated.table, validated.source.name
    about: Facts = {
        "title": [f"Validation of {name} for {table.label!r} on {table.name!r}."],
        "model": [f"{name}, as it is."],
    }
    return joined(table_facts(path, table, command), about, usual_facts("validate"))


def validation_page(
    validated: Validated, scores: EventScores, answer: Answer, asked: RiskQuestions, command: str
) -> Page:
    """Return the page.

    Parameters
    ----------
    validated : Validated
    scores : mapping
        Event to its scores.
    answer : Answer
    asked : RiskQuestions
        Thresholds and columns of subgroups.
    command : str
        As typed.
    """
    table, source = validated.table, validated.source
    columns = () if source.model is None else source.model.encoder.columns
    names = quotable(columns, (source.column or "", validated.site or ""))
    by = "" if table.follow is None else f", by {table.follow.horizon:g}"
    about = Text(
        "Validated: {}, on {}: {} rows, label {}{}.",
        *(source.name, table.name, Count(len(validated.risk)), table.label, by),
    )
    binary = len(scores) == 1
    outcomes = table.shown_classes if binary else ()
    panels = {"": next(iter(validated.predictions.values()))} if binary else validated.predictions
    calibration = partial(calibration_figure, panels, outcomes)
    first: list[Block] = [calibration, about, *remarks_on(table.remarks)]
    return Page(
        f"How good are the risks on {table.name}?",
        answer,
        [
            Section("answer", "Answer", first),
            Section("scores", "Every score", [score_table(scores), SCORE_NOTE]),
            *(_of_two_classes(validated, asked) if binary else []),
            Section("measures", "How it was measured", _method(validated)),
        ],
        command,
        page_names(table) | names,
    )


def _of_two_classes(validated: Validated, asked: RiskQuestions) -> list[Section]:
    """Return the sections on net benefit, sites, subgroups and updates."""
    (predictions,) = validated.predictions.values()
    share = predictions.share
    treated = asked.treated_from(share)
    subgroups = subgroup_section(validated.table, predictions, asked.by, treated)
    return [
        Section("benefit", "Net benefit", benefit_blocks({"": predictions}, asked, share)),
        *_sites(validated),
        *(block for block in subgroups if isinstance(block, Section)),
        _updates(validated),
    ]


def _sites(validated: Validated) -> list[Section]:
    """Return the section on the scores of each site; none where there are no two sites."""
    places, few = site_places(validated)
    if len(places) + len(few) < 2:
        return []
    blocks: list[Block] = []
    if places:
        panels = {name: place.predictions for name, place in places.items()}
        blocks = [*place_blocks(places), calibration_figure(panels)]
    if few:
        blocks.append(
            f"{len(few)} of the sites have fewer than ten events, or than ten patients known to be "
            "without one. They are not shown."
        )
    blocks.append(
        "Scores are pooled from five sites on: random effects with the variance of Paule and "
        "Mandel, the interval of Hartung, Knapp, Sidik and Jonkman."
    )
    return [Section("sites", "Site by site", blocks)]


def _updates(validated: Validated) -> Section:
    after = updates(validated)
    # Scores without an update are those of the table of every score.
    updated = {name: scores for name, scores in after.items() if name != NONE}
    table = score_table(updated, "updates", "Updates")
    coefficients = (
        "All coefficients: the logistic regression is fitted anew, with the same columns, splines, "
        "clusters and penalty."
        if REFIT in after
        else "Coefficients can be fitted anew only for a logistic regression of deepcac fit."
    )
    note = (
        "Each update is fitted on nine tenths of these patients and tested on the last tenth, ten "
        "times, so the scores are of patients that it has not seen. The intervals hold the fitted "
        "updates fixed. Intercept: all log odds are shifted; intercept and slope: they are also "
        f"stretched (Cox 1958). {coefficients}"
    )
    return Section("updates", "What an update would give", [table, note])


def _method(validated: Validated) -> list[str]:
    draws = next(iter(validated.predictions.values())).draws.shape[1]
    others = (
        "The patients are assumed to be others than those of the fit, on whom every model looks "
        "too good."
    )
    return [
        f"Intervals: {draws} bootstrap draws of the patients, whose rows stay "
        "together; normal, AUROC and AUPRC on log odds, O/E and ICI on logarithms. The risks are "
        "held fixed.",
        *([others] if validated.source.model is not None else []),
        "ICI: the mean distance between a risk and the calibration curve at it. The curve is a "
        "logistic regression on a cubic spline of the log odds with four knots, linear beyond the "
        "outer ones. Even right risks have an ICI above 0 in a table of finite size.",
        "Scaled Brier: 1 minus the Brier score over that of the share of events for everybody. ",
        *([TIMED] if validated.table.follow is not None else []),
    ]
