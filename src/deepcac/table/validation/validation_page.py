"""The page of a validation: the answer and its picture first, then every score."""

from collections.abc import Mapping
from functools import partial

from markupsafe import Markup

from deepcac.pages.sections import Block, Section
from deepcac.scoring.resampled_scores import Estimate
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer
from deepcac.table.page_text import quotable
from deepcac.table.pages.comparisons import scores_forest
from deepcac.table.pages.page_sections import Page, method_section, page_names, remarks_on
from deepcac.table.pages.risk_figures import calibration_figure, decision_figure
from deepcac.table.pages.risk_section import DEFAULT, TIMED, RiskQuestions
from deepcac.table.pages.score_tables import (
    BENEFIT_NOTE,
    SCORE_NOTE,
    benefit_table,
    place_lines,
    place_table,
    score_table,
    update_table,
)
from deepcac.table.pages.subgroups import subgroup_section
from deepcac.table.validation.validated_risks import Validated
from deepcac.table.validation.validation_scores import REFIT, site_places, updates

Scores = Mapping[str, Mapping[str, Estimate]]


def validation_page(
    validated: Validated, scores: Scores, answer: Answer, asked: RiskQuestions, command: str
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
        "Judged: {}, on {}: {} rows, label {}{}.",
        *(source.name, table.name, Count(len(validated.risk)), table.label, by),
    )
    binary = len(scores) == 1
    outcomes = table.shown_classes if binary else ()
    judged = {"": next(iter(validated.predictions.values()))} if binary else validated.predictions
    calibration = partial(calibration_figure, judged, outcomes)
    first: list[Block] = [calibration, about, *remarks_on(table.remarks)]
    return Page(
        f"How good are the risks on {table.name}?",
        answer,
        [
            Section("answer", "Answer", first),
            Section("scores", "Every score", [score_table(scores), SCORE_NOTE]),
            *(_of_two_classes(validated, asked) if binary else []),
            method_section(_method(validated)),
        ],
        command,
        page_names(table) | names,
    )


def _of_two_classes(validated: Validated, asked: RiskQuestions) -> list[Section]:
    """Return the sections on net benefit, sites, subgroups and updates."""
    (predictions,) = validated.predictions.values()
    ends, judged = asked.ends(predictions.share), {"": predictions}
    by_default = [f"Thresholds: {DEFAULT}"] * (asked.thresholds is None)
    benefits: list[Block] = [
        decision_figure(judged, ends),
        benefit_table(judged, asked.five),
        BENEFIT_NOTE,
        *by_default,
    ]
    treated = asked.treated_from(predictions.share)
    subgroups = subgroup_section(validated.table, predictions, asked.by, treated)
    return [
        Section("benefit", "Net benefit", benefits),
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
        judged = {name: place.predictions for name, place in places.items()}
        blocks = [
            place_table(places),
            scores_forest(place_lines(places)),
            calibration_figure(judged),
        ]
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
    coefficients = (
        "<b>All coefficients</b> fits the logistic regression anew, with the same columns, "
        "splines, clusters and penalty."
        if REFIT in after
        else "Coefficients can be fitted anew only for a logistic regression of deepcac fit."
    )
    note = Markup(
        "Each update is fitted on nine tenths of these patients and judged on the last tenth, ten "
        "times, so the scores are of patients that it has not seen. The intervals hold the fitted "
        "updates fixed. <b>Intercept</b> shifts all log odds; <b>intercept and slope</b> also "
        f"stretches them (Cox 1958). {coefficients}"
    )
    return Section("updates", "What an update would give", [update_table(after), note])


def _method(validated: Validated) -> list[str]:
    draws = next(iter(validated.predictions.values())).draws.shape[1]
    apart = (
        "The patients are taken to be others than those of the fit, on whom every model looks too "
        "good."
    )
    return [
        f"Intervals: {draws} bootstrap draws of the patients, whose rows stay "
        "together; normal, AUROC and AUPRC on log odds, O/E and ICI on logarithms. The risks are "
        "held fixed.",
        *([apart] if validated.source.model is not None else []),
        "ICI: the mean distance between a risk and the calibration curve at it. The curve is a "
        "logistic regression on a cubic spline of the log odds with four knots, linear beyond the "
        "outer ones. Even right risks have an ICI above 0 in a table of finite size.",
        "Scaled Brier: 1 minus the Brier score over that of the share of events for everybody. ",
        *([TIMED] if validated.table.follow is not None else []),
    ]
