"""The page that says whether clusters help in another place, answer first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from deepcac.judging.predictions import Predictions, stack
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.scoring.calibration import recalibrated
from deepcac.scoring.equivalence import BETTER, NEVER
from deepcac.scoring.random_effects import Pooled
from deepcac.scoring.resampled_scores import AUROC, MOST_DRAWS, score_intervals
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.answer import Answer, contender_name, signed, with_interval
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.elsewhere.fold_trials import BEST, WITHOUT, FoldResult
from deepcac.table.elsewhere.place_answer import Over, overall
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.column_tables import DIFFERENCE_NOTE, cohort_table, column_blocks
from deepcac.table.pages.page_sections import Page, method_section
from deepcac.table.pages.risk_figures import calibration_figure
from deepcac.table.pages.risk_section import TIMED, RiskQuestions, benefit_blocks, subgroup_section
from deepcac.table.pages.score_tables import (
    SCORE_NOTE,
    Line,
    Place,
    differences_forest,
    place_blocks,
    scores_forest,
)

AS_THEY_ARE, RECALIBRATED = "risks as they are", "risks recalibrated"


class PlaceTables(NamedTuple):
    """The tables of a comparison in other places.

    Attributes
    ----------
    table : LabelledTable
        The table for training.
    tested : LabelledTable
        The table with the test rows: the same one, or the further tables as one.
    remarks : list of str
        What a reader must know, besides the remarks on the table.
    heading : str
        What was tested: "Left out: each site in turn (column ...)", or the second table.
    """

    table: LabelledTable
    tested: LabelledTable
    remarks: list[str]
    heading: str

    @property
    def external(self) -> bool:
        """Whether the places are further tables, not parts of the first."""
        return self.tested is not self.table


def place_page(
    places: PlaceTables,
    results: Sequence[FoldResult],
    comparisons: Mapping[str, Over],
    answer: Answer,
    run: TableRun,
    asked: RiskQuestions,
    seconds: float,
) -> Page:
    """Return the page; `seconds` is how long the comparison took."""
    table = places.table
    sizes = (table.name, Count(len(table.features.label)), table.label, places.heading)
    forest = differences_forest("places", {"": _forest_lines(comparisons[BEST])})
    return Page.of_table(
        table,
        answer,
        [forest, Text("{}: {} rows, label {}. {}.", *sizes)],
        [
            Section("places", "Place by place", [_places(results, comparisons[BEST])]),
            Section(
                "model",
                "The best model without clusters",
                _model(places, results, asked),
                "The best model",
            ),
            Section(
                "comparison",
                "Every model with clusters, minus the same model without",
                [_COMPARED, _comparisons(comparisons)],
                "Every model",
            ),
            Section("cohort", "Columns", _columns(places)),
            method_section(_method(places, len(results) > 1, run, seconds)),
        ],
        run.command,
        title=f"Do clusters help in another place? {table.name}",
        remarks=[*places.remarks, *_cut(results, run.train_rows)],
        names=[fold.name for fold in results],
    )


_COMPARED = (
    "Two clusters or more. Random groups and the hash of the row number are controls that mean "
    "nothing. Logistic regression with splines has curves and no clusters; the same model without "
    "curves is subtracted from it."
)


def _columns(places: PlaceTables) -> list[Block]:
    """Return the columns, and how the test patients differ if they are of another table."""
    table = places.table
    columns = column_blocks(table.rows, table.columns)
    if not places.external:
        return columns
    return [cohort_table(table, places.tested), DIFFERENCE_NOTE, *columns]


def _cut(results: Sequence[FoldResult], most: int) -> list[str]:
    sentence = f"More rows were there to learn from than the {most:,} that were used (at random)."
    return [sentence] * any(fold.cut for fold in results)


def _forest_lines(over: Over) -> list[Line]:
    """Return the difference in every place, over all, and in a new one."""
    lines = [*over.places]
    if over.whole is not None and over.pooled is not None:
        lines.append(over.whole)
        if not np.isnan(over.pooled.new_low):
            ends = (over.pooled.new_low, over.pooled.new_high)
            lines.append(Line("in a new site", over.whole.mean, *ends, pooled=True))
    return lines


def _places(results: Sequence[FoldResult], over: Over) -> Table:
    rows = [
        (
            fold.name, place.verdict, *_difference(place), contender_name(comparison.reference),
            f"{comparison.reference_score:.3f}", contender_name(comparison.contender),
            f"{comparison.score:.3f}",
        )
        for fold, place in zip(results, over.places, strict=True)
        for comparison in [fold.comparisons[BEST]]
    ]  # fmt: skip
    if over.whole is not None:
        rows.append(("all sites", over.whole.verdict, *_difference(over.whole), "", "", "", ""))
    head = (
        *("place", "verdict", "difference", "95 % interval"),
        *("without clusters", "AUROC", "with clusters", "AUROC"),
    )
    return Table.of_texts("places", "Place by place", head, rows, verdict="verdict")


def _difference(place: Line) -> tuple[str, str]:
    return ("0", "") if place.verdict == NEVER else place.cells


def _model(places: PlaceTables, results: Sequence[FoldResult], asked: RiskQuestions) -> list[Block]:
    """Return how the best model without clusters does in each place."""
    by_place = {fold.name: fold.predictions for fold in results if fold.predictions is not None}
    if not by_place:
        return _auroc_blocks(results)
    alone = {
        name: _recalibrated(predictions.named({WITHOUT: AS_THEY_ARE}))
        for name, predictions in by_place.items()
    }
    scored = {
        name: Place(part, score_intervals(part.of(AS_THEY_ARE), part.draws), {})
        for name, part in alone.items()
    }
    everyone = stack(by_place.values())
    assert everyone is not None
    # Rows of further tables are numbered after those of the first.
    first = len(places.table.features.label) if places.external else 0
    chosen = Counter(contender_name(fold.best) for fold in results)
    models = ", ".join(f"{name} ({n} of {len(results)})" for name, n in chosen.most_common())
    return [
        "Chosen by log loss on the tuning rows, so that its risks mean something: "
        f"{models}. {SCORE_NOTE} Recalibrated: intercept and slope are refitted on the patients of "
        "the place, and not tested on others.",
        *place_blocks(scored),
        calibration_figure(alone),
        *benefit_blocks(alone, asked, everyone.share),
        *subgroup_section(
            places.tested,
            replace(everyone, row=everyone.row - first),
            asked.by,
            asked.treated_from(everyone.share),
        ),
    ]


def _recalibrated(predictions: Predictions) -> Predictions:
    """Return predictions also with risks whose intercept and slope are refitted on them."""
    whom = predictions.of(AS_THEY_ARE)
    weight = None if whom.follow is None else whom.once()
    again = recalibrated(whom.y, whom.risk, weight).risk
    return replace(predictions, risk={**predictions.risk, RECALIBRATED: again})


def _auroc_blocks(results: Sequence[FoldResult]) -> list[Block]:
    """Return the AUROC by place, of three classes or more the mean over them."""
    rows = [
        (fold.name, Count(sum(fold.counts)), contender_name(fold.best),
         with_interval(fold.auroc, 3))
        for fold in results
    ]  # fmt: skip
    head = ("place", "rows", "model", "AUROC (95 % interval)")
    return [
        scores_forest({AUROC: [Line(fold.name, *fold.auroc[:3]) for fold in results]}),
        Table.of_texts("places-scores", "Scores by place", head, rows),
    ]


def _comparisons(comparisons: Mapping[str, Over]) -> Table:
    """Return every contender minus its model alone: over all sites, or in the one place."""
    rows, several = [], any(over.pooled is not None for over in comparisons.values())
    for key, over in comparisons.items():
        if key == BEST:
            continue
        place = overall(over)
        better = sum(entry.verdict == BETTER for entry in over.places)
        outcome = ("not pooled", "", "") if place is None else (place.verdict, *_difference(place))
        cells = [contender_name(key), *outcome]
        if several:
            new, tau = _new_site(over.pooled)
            cells += [new, tau, f"{better} of {len(over.places)}"]
        rows.append(tuple(cells))
    head = ["model", "verdict", "difference", "95 % interval"]
    return Table.of_texts(
        "comparisons",
        "Every model",
        (*head, *["in a new site", "tau", "better in"] * several),
        rows,
        verdict="verdict",
    )


def _new_site(pooled: Pooled | None) -> tuple[str, str]:
    """Return the prediction interval of a new site, and tau; empty where sites were not pooled."""
    if pooled is None:
        return "", ""
    ends = (pooled.new_low, pooled.new_high)
    return "" if np.isnan(ends[0]) else " to ".join(
        signed(end, 4) for end in ends
    ), f"{pooled.tau:.4f}"


def _method(places: PlaceTables, several: bool, run: TableRun, seconds: float) -> list[str]:
    pooled = (
        "Over all sites: random effects with the variance of Paule and Mandel (tau is its root), "
        "the interval of Hartung, Knapp, Sidik and Jonkman, and a prediction interval with k - 2 "
        "degrees of freedom; scores of the risks from five sites on. Sites are adjusted by Holm "
        "1979. The models of two sites share training rows, which this does not count."
    )
    training = "first table" if places.external else "other patients"
    return [
        f"{places.heading}. Every model has {run.trials} trials on three quarters of the "
        f"{training} (at most {run.train_rows:,} rows); "
        "the last quarter tunes it. It is tested once, on patients that it has not seen. "
        f"Seed {run.seed}, {seconds:.0f} s.",
        f"Intervals: a paired bootstrap of the test patients, {MOST_DRAWS} times, rows of one "
        "patient together. They do not count that other training rows would give other models.",
        *([pooled] if several else []),
        "Equivalent: two one-sided tests at 5 % exclude a difference of the margin.",
        "Recalibrated: intercept and slope of the log odds are refitted on the test patients "
        "(Cox 1958). This shows what a local update could do; it changes no AUROC and is no test.",
        *([TIMED] if places.table.outcome.horizon is not None else []),
    ]
