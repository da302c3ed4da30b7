"""`deepcac validate`: read risks and outcomes, score, write page and card, say the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE
from deepcac.scoring.small_cells import NOTE, Count, Text
from deepcac.table.answer import Answer, with_interval
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.card_facts import bias_facts, class_lines, software, write_page_and_card
from deepcac.table.cards.model_card import card_path
from deepcac.table.cluster_answer import ENOUGH_EVENTS
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.page_text import page_lines, quotable
from deepcac.table.pages.risk_section import RiskQuestions, check_asked
from deepcac.table.validation.validated_risks import RiskSource, Validated, read_validated
from deepcac.table.validation.validation_page import Scores, validation_page
from deepcac.table.validation.validation_scores import event_scores


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
        Whether rows are judged that are mostly unlike those of the fit.

    Raises
    ------
    ConfigError, DataError
        See `read_validated`.
    """
    check_output(out, path, *source.files)
    beside = card_path(out, path, *source.files)
    validated = read_validated(path, source, asked.by, accept=accept)
    check_asked(validated.table, asked)
    validated.table.tell(run.say)
    scores = {name: event_scores(part) for name, part in validated.predictions.items()}
    answer = validation_answer(validated, scores)
    page = validation_page(validated, scores, answer, asked, run.command)
    for line in answer.also:
        run.say(line)
    write_page_and_card(out, beside, page, _facts(validated, run.command), run)
    return answer.sentence


def validation_answer(validated: Validated, scores: Scores) -> Answer:
    """Return the headline, and sentences on calibration and on how much the numbers weigh.

    `scores` are those of each event.
    """
    counts, events = event_counts(validated), list(scores)
    if len(events) > 1:
        aurocs = ", ".join(
            f"{event} {of_event[AUROC].value:.2f}" for event, of_event in scores.items()
        )
        first = Text("AUROC against the other classes: {}; {} rows.", aurocs, Count(sum(counts)))
        return Answer(first, also=_few_events(counts))
    (of_event,) = scores.values()
    shown = {AUROC: "AUROC", RATIO: "observed/expected", SLOPE: "slope"}
    numbers = ", ".join(
        f"{name} {with_interval(of_event[score], 2)}"
        for score, name in shown.items()
        if not np.isnan(of_event[score].value)
    )
    n = len(validated.risk)
    first = Text("{}; {} events in {} rows.", numbers, Count(counts[1]), Count(n))
    return Answer(first, also=[_verdict(of_event), *_few_events(counts)])


def _verdict(scores: Mapping[str, Any]) -> str:
    """Say what the intervals of AUROC, O/E and slope exclude."""
    rank, ratio, slope = (scores[name] for name in (AUROC, RATIO, SLOPE))
    sentences, wrong = [], []
    if rank.high < 0.5:
        sentences.append("The risks rank patients the wrong way round.")
    elif not rank.low > 0.5:
        sentences.append("There is no evidence that the risks rank patients.")
    if ratio.low > 1 or ratio.high < 1:
        wrong.append(f"too {'low' if ratio.low > 1 else 'high'} on average")
    if slope.low > 1 or 0 < slope.high < 1:
        wrong.append(f"too {'moderate' if slope.low > 1 else 'extreme'}")
    if wrong:
        sentences.append(f"The risks are {' and '.join(wrong)}.")
    if not sentences:
        sentences.append("We found no miscalibration: O/E and slope are compatible with 1.")
    return " ".join(sentences)


def event_counts(validated: Validated) -> list[int]:
    """Return the rows of each class whose outcome is known."""
    label, follow = validated.table.features.label, validated.table.follow
    labelled = label if follow is None else label[follow.outcome_known]
    return [int(n) for n in np.bincount(labelled, minlength=len(validated.table.classes))]


def _few_events(counts: Sequence[int]) -> list[str]:
    """Warn where a class is too rare for a validation (Vergouwe et al. 2005)."""
    if min(counts) >= ENOUGH_EVENTS:
        return []
    what = "rows of the rarest class" if len(counts) > 2 else "events"
    if len(counts) == 2 and counts[0] < counts[1]:
        what = "patients without the event"
    return [
        Text(
            "Warning: {} {}. With fewer than {} a validation is uncertain, whatever its intervals "
            "(Vergouwe et al. 2005).",
            *(Count(min(counts)), what, ENOUGH_EVENTS),
        )
    ]


def _facts(validated: Validated, command: str) -> dict[str, list[str]]:
    """Return the lines of a card on the table and on what is judged."""
    table, source = validated.table, validated.source
    names = quotable(
        () if source.model is None else source.model.encoder.columns,
        (*table.classes, *table.words, table.label, *table.rows.column_names),
    )
    counts = event_counts(validated)
    rows = Text("{} of {} rows of the file.", Count(len(validated.risk)), Count(table.total))
    return {
        "title": [f"Validation of {source.name} for {table.label!r} on {table.name!r}."],
        "objective": ["To judge a risk model that exists on patients with known outcomes."],
        "data": [Text("{}: {}", table.name, rows), NOTE],
        "preparation": [*page_lines(table.remarks, names)],
        "outcome": [f"Column {table.label!r}: {' or '.join(table.classes)}."],
        "sample_size": [Text("{} Of the rarest class: {}.", rows, Count(min(counts)))],
        "partition": ["All rows judge the model; none was used to make it."],
        "model": [f"{source.name}, as it is."],
        "evaluation": ["These patients are held to be others than those of the fit."],
        "flow": [rows, *class_lines(table)],
        "evaluation_data": [rows],
        "development": [rows],
        "measures": [
            "AUROC, AUPRC, O/E, calibration intercept and slope, integrated calibration index, "
            "Brier score (scaled too), log loss, net benefit (standardised too); 95 % intervals by "
            "drawing patients again."
        ],
        "calculation": ["The risks are those of deepcac predict, or of the column."],
        "code": [f"Command: {command}", software()],
        **bias_facts(table),
        "bias_leaks": ["Not looked for: the model is taken as it is."],
        "bias_optimism": ["Updates are judged on patients on whom they were not fitted."],
    }
