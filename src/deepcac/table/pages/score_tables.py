"""Tables of scores, net benefit and differences between models or places, with their forests."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from deepcac.judging.predictions import Predictions
from deepcac.judging.questions import BEND, HELP, NEGATIVE, Question
from deepcac.pages.figures import INK, Figure
from deepcac.pages.forest import ENDS, Forest, Mark, Scale
from deepcac.pages.sections import Block
from deepcac.pages.tables import Table
from deepcac.pages.wording import p_beside
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.scoring.margins import MARGIN
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.resampled_scores import (
    AUPRC,
    AUROC,
    BRIER,
    ICI,
    INTERCEPT,
    LOSS,
    RATIO,
    RECALIBRATED_BRIER,
    SCALED,
    SLOPE,
    Estimate,
    benefit,
    drawn_aurocs,
    drawn_scores,
    estimate,
    estimates,
    event_share,
    perfect_ranking,
    scaled,
    unscaled,
)
from deepcac.scoring.small_cells import Count
from deepcac.table.answer import Answer, arm_name, contender_name, signed, with_interval
from deepcac.table.answer import Line as Comparison
from deepcac.table.cluster_answer import rows_of
from deepcac.table.pages.risk_figures import TREAT_ALL, treatments
from deepcac.table.second_table import FEWEST_TO_TEST
from deepcac.types import Array, Flags

METRICS = {"auroc": "AUROC", "auprc": "AUPRC"}
HEADINGS = {
    HELP: "{model}: with clusters, minus without",
    BEND: "Logistic regression: with splines, minus without",
    NEGATIVE: "Control: {model} with a hash of the row, minus without",
}
_SCALES = {
    AUROC: Scale("AUROC", 0.5),
    RATIO: Scale("observed / expected", 1, ratio=True),
    SLOPE: Scale("calibration slope", 1),
}


class Line(NamedTuple):
    """A comparison, or a score, with its 95 % interval.

    Attributes
    ----------
    name : str
    mean, low, high : float
    verdict : str
        Gives the colour.
    pooled : bool
        Whether it is of all lines together.
    """

    name: str
    mean: float
    low: float
    high: float
    verdict: str = ""
    pooled: bool = False

    @classmethod
    def of(cls, name: str, row: Comparison) -> "Line":
        """Return a row of `deepcac.judging.verdicts.verdicts` under a name."""
        return cls(name, row["mean"], row["low"], row["high"], row["verdict"])

    @property
    def text(self) -> str:
        """A difference in AUROC in a sentence."""
        ends = f"{signed(self.low)} to {signed(self.high)}"
        return f"{signed(self.mean)} AUROC (95 % interval {ends})"

    @property
    def cells(self) -> tuple[str, str]:
        """Difference and interval for a table; no interval where nothing varies."""
        span = "" if np.isnan(self.low) else f"{signed(self.low, 4)} to {signed(self.high, 4)}"
        return signed(self.mean, 4), span


def differences_forest(id: str, panels: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw differences in AUROC, in panels below each other by their headings."""
    filled = {name: name for name, lines in panels.items() if lines}
    forest = _forest(panels, panels=filled or {"": ""}, margin=MARGIN)
    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference with its 95 % interval. Grey band: negligible differences (margin "
        f"{MARGIN:g}). Hollow: nothing is tested, as both sides are one model (never chosen) or "
        "have the same scores (tied)."
        + " Diamonds: over all, and where the difference of a new one is expected."
        * bool(forest.pooled),
        size=(6.2, forest.size(1)[1]),
        draw=lambda canvas: forest.draw(canvas, 1),
    )


def scores_forest(scores: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw AUROC, observed / expected events and slope by place, a panel each.

    `scores` holds lines by the name of a score; those over all places are the last.
    """
    axes = {score: _SCALES[score] for score in scores}
    forest = _forest(scores, INK, panels=dict.fromkeys(scores, ""), scales=axes)
    diamonds = ", the mean over places, and where a new place is expected (diamonds)"
    return Figure(
        id="scores_by_place",
        title="The model by place",
        caption=f"With 95 % intervals{diamonds * bool(forest.pooled)}. Grey lines: no better than "
        "chance; as many events as expected; risks as spread as they should be.",
        size=(8.2 if len(scores) > 1 else 6.2, 1.2 + 0.3 * len(forest.labels)),
        draw=lambda canvas: forest.draw(canvas, len(scores)),
    )


def _forest(lines: Mapping[str, Sequence[Line]], colour: str = "", **shown: Any) -> Forest:
    """Return the forest of the lines of each panel."""
    every = [(panel, line) for panel, inside in lines.items() for line in inside]
    return Forest(
        points=pd.DataFrame(
            [(panel, line.name, "", *line[1:5]) for panel, line in every],
            columns=["panel", "row", "mark", *ENDS, "verdict"],
        ),
        marks={"": Mark("o", "", colour)},
        labels={line.name: line.name for _, line in every},
        pooled={line.name for _, line in every if line.pooled},
        **shown,
    )


def comparison_forest(
    answer: Answer,
    headings: Mapping[Question, str] = HEADINGS,
    arm: Callable[[str], str] = arm_name,
) -> Figure:
    """Draw the differences in AUROC of some questions with their 95 % intervals.

    Parameters
    ----------
    answer : Answer
    headings : dict of Question to str
        Above the comparisons of a ``{model}``.
    arm : callable
        Returns what distinguishes a contender from its learner alone, in words.
    """
    panels: dict[str, list[Line]] = {}
    for question, text in headings.items():
        for row in rows_of(answer.table, question).to_dict("records"):
            model = contender_name(row["contender"].rpartition("_")[2])
            name = arm(row["contender"]) if question != BEND else "with splines"
            panels.setdefault(text.format(model=model), []).append(Line.of(name, row))
    return differences_forest("forest", panels)


def verdict_note(declined: str) -> str:
    """Describe what the verdicts mean; never chosen is that the validation rows took `declined`."""
    return (
        "Better and worse: the corrected t-test finds a difference (p below 0.05, Holm-adjusted "
        "inside a question). Equivalent: two one-sided tests exclude a difference of "
        f"{MARGIN:g} (p below 0.05, adjusted likewise). Undecided: neither; more rows are needed. "
        f"Never chosen: the validation rows took {declined} in any resample, so both sides are one "
        "model and nothing is compared."
    )


def comparison_table(
    comparisons: pd.DataFrame, questions: Sequence[Question], named: Callable[[str], str]
) -> Table:
    """Return every comparison of `deepcac.judging.verdicts.verdicts`.

    `named` gives a contender its name in words.
    """
    texts = {question.id: question.text for question in questions}
    rows = [
        (
            texts[row["question"]], named(row["contender"]), named(row["reference"]),
            METRICS[row["metric"]], row["verdict"], *Line.of("", row).cells,
            "" if row["verdict"] in NOT_TESTED else p_beside(row["p_holm"]),
        )
        for row in comparisons.to_dict("records")
    ]  # fmt: skip
    head = ("question", "model", "reference", "metric", "verdict", "difference")
    whole = (*head, "95 % interval", "p (Holm)")
    return Table.of_texts(
        "comparisons", "Every comparison", whole, rows, n_labels=3, verdict="verdict"
    )


Scores = Mapping[str, Estimate]
BENEFIT, CHANGE = "net benefit", "change with clusters"  # of subgroups


class Measure(NamedTuple):
    """How a score is written: its name, its digits, and which value is best."""

    name: str
    digits: int
    best: str = ""


MEASURES = {
    AUROC: Measure("AUROC", 3, "1; by chance 0.5"),
    AUPRC: Measure("AUPRC", 3, "1; by chance the share of events"),
    RATIO: Measure("observed / expected events", 2, "1"),
    INTERCEPT: Measure("calibration intercept", 2, "0"),
    SLOPE: Measure("calibration slope", 2, "1"),
    ICI: Measure("calibration index (ICI)", 4, "0"),
    BRIER: Measure("Brier score", 4, "0"),
    SCALED: Measure("scaled Brier score", 4, "1; the same risk for all 0"),
    LOSS: Measure("log loss", 4, "0"),
    RECALIBRATED_BRIER: Measure("Brier score, recalibrated", 4),
    BENEFIT: Measure(BENEFIT, 1),
    CHANGE: Measure(CHANGE, 4),
}
POOLED = (AUROC, RATIO, SLOPE)
FEWEST_TO_POOL = 5  # places; of fewer the spread between places is hardly known
OVER, PREDICTED = "all sites, pooled", "a new site, expected"
SCORE_NOTE = (
    "Observed / expected: above 1, the risks are too low on average. Intercept: above 0, they are "
    "too low. Slope: below 1, they are too extreme."
)


def score_table(
    columns: Mapping[str, Scores], id: str = "scores", title: str = "Every score"
) -> Table:
    """Return a table with a line a score, and a column for each model, event or update."""
    first = next(iter(columns.values()))
    rows = [
        (name, *(score_cell(scores[key], key) for scores in columns.values()), best)
        for key, (name, _, best) in MEASURES.items()
        if key in first and best
    ]
    single = len(columns) == 1
    head = ("score", *(["value (95 % interval)"] if single else columns), "best")
    return Table.of_texts(id, title, head, rows)


def score_cell(score: Estimate, name: str) -> str:
    """Return a score with its interval, as far as it has one."""
    if np.isnan(score.value):
        return "not defined"
    sign = name in (INTERCEPT, BENEFIT, CHANGE) and not np.isnan(score.low)
    return with_interval(score, MEASURES[name].digits, sign=sign)


def benefit_table(places: Mapping[str, Predictions], thresholds: Array) -> Table:
    """Return net benefit in patients of 1,000, a line for each place and threshold.

    The name of a place is "" if there is one table only.
    """
    rows: list[tuple[str, ...]] = []
    named = list(places) != [""]
    for place, predictions in places.items():
        treated = treatments(predictions)
        share = event_share(treated[TREAT_ALL], predictions.draws)
        for t in thresholds.tolist():
            drawn = {what: benefit(whom, predictions.draws, t) for what, whom in treated.items()}
            cells = [drawn_cell(values, 1) for values in drawn.values()]
            largest = 1000 * np.where(share > 0, share, np.nan)
            standardised = drawn_cell(next(iter(drawn.values())) / largest, 2)
            rows.append((*[place] * named, f"{100 * t:.3g} %", *cells, standardised))
    first_place = next(iter(places.values()))
    head = (*["place"] * named, "treat from", *treatments(first_place), "standardised")
    return Table.of_texts("benefits", "Net benefit", head, rows, n_labels=1 + named)


BENEFIT_NOTE = (
    "In patients of 1,000: those correctly treated, minus false alarms weighted by the odds of the "
    "threshold, with 95 % intervals. Standardised: over the "
    "share of events, so that 1 is the largest."
)


def drawn_cell(drawn: Array, digits: int) -> str:
    """Return a signed value with its interval, of values as they are and in each draw (1 + r,)."""
    return with_interval(_of_draws(drawn), digits, sign=True)


def _of_draws(drawn: Array) -> Estimate:
    return estimate("", float(drawn[0]), drawn[1:])


class Place(NamedTuple):
    """A place, or a subgroup, with the risks of one model there, and their scores.

    `drawn` are the scores as they are and in each draw of the patients, shape (1 + r,).
    """

    predictions: Predictions
    scores: Scores
    drawn: Mapping[str, Array]


def score_places(
    predictions: Predictions, levels: Iterable[tuple[str, Flags]], threshold: float | None = None
) -> tuple[dict[str, Place], list[tuple[str, int, bool]]]:
    """Score the first model in each level of a column.

    Patients are drawn again with all their predictions; the model stays as it is. The AUROC is
    the mean of parts with both outcomes, so that no pair is of two models; the other scores are of
    all patients.

    Parameters
    ----------
    predictions : Predictions
    levels : iterable of (str, ndarray)
        Names, and which rows of the table have the level.
    threshold : float, optional
        Risk from which a patient is treated, for the net benefit, and for what a second model
        changes.

    Returns
    -------
    places : dict of str to Place
    few : list of tuple
        Levels with too few patients: name, rows, and whether they have enough events.
    """
    places, few = {}, []
    model, *others = predictions.risk
    for name, inside in levels:
        lines = inside[predictions.row]
        part = predictions.take(lines)
        whom, enough = part.of(model), bool(part.outcomes.min() >= FEWEST_TO_TEST)
        if not enough or not whom.rankable:
            few.append((name, int(inside.sum()), enough))
            continue
        draws = predictions.draws[lines]
        drawn = drawn_scores(whom, draws)
        scores = estimates(whom, drawn)
        further = {} if threshold is None else {BENEFIT: benefit(whom, draws, threshold)}
        for other in others:
            further[CHANGE] = drawn_aurocs(part.of(other), draws) - drawn_aurocs(whom, draws)
        scores |= {score: _of_draws(values) for score, values in further.items()}
        places[name] = Place(part, scores, drawn | further)
    return places, few


def pool_places(places: Mapping[str, Place]) -> dict[str, tuple[Line, Line]]:
    """Pool each score of `POOLED` over places by random effects; none that fewer than five have.

    The log odds of the AUROC are pooled, the log of O/E, and the slope itself (Snell et al. 2018).

    Returns
    -------
    dict of str to (Line, Line)
        The mean with its 95 % interval, and where the score of a new place lies.
    """
    spreads = {}
    for name in POOLED:
        scored = [place for place in places.values() if not np.isnan(place.scores[name].low)]
        if len(scored) < FEWEST_TO_POOL:
            continue
        values, errors = zip(*(_scaled_score(place, name) for place in scored), strict=True)
        pooled = pool_sites(list(values), list(errors))
        half = float(stats.t.ppf(0.975, pooled.freedom)) * pooled.error
        ends = (pooled.mean - half, pooled.mean + half), (pooled.new_low, pooled.new_high)
        over, new = (
            Line(what, *unscaled(name, np.array([pooled.mean, *pair])).tolist())
            for what, pair in zip((OVER, PREDICTED), ends, strict=True)
        )
        spreads[name] = (over._replace(pooled=True), new._replace(pooled=True))
    return spreads


def _scaled_score(place: Place, name: str) -> tuple[float, float]:
    """Return a score of a place, on its `scaled` form, and its error."""
    score = place.scores[name]
    if name == AUROC and score.value in (0, 1):
        middle, error = perfect_ranking(*place.predictions.outcomes[::-1].tolist())
        return (middle if score.value else -middle), error
    return float(scaled(name, np.array(score.value))), max(score.error, 1e-9)


_OF_PLACES = (AUROC, RATIO, SLOPE, INTERCEPT, BRIER, RECALIBRATED_BRIER)


def place_rows(places: Mapping[str, Place], shown: Iterable[str]) -> list[tuple[str, ...]]:
    """Return name, rows, events and some scores of each place."""
    return [
        (
            name,
            Count(place.predictions.rows),
            Count(int(place.predictions.outcomes[1])),
            *(score_cell(place.scores[score], score) for score in shown),
        )
        for name, place in places.items()
    ]


def place_table(places: Mapping[str, Place]) -> Table:
    """Return the scores of one model in each place, and those pooled over places."""
    rows = place_rows(places, _OF_PLACES)
    spreads = pool_places(places)
    for row, name in enumerate((OVER, PREDICTED)[: 2 * len(spreads)]):
        cells = [
            _pooled_cell(spreads[score][row], MEASURES[score].digits) if score in spreads else ""
            for score in _OF_PLACES
        ]
        rows.append((name, "", "", *cells))
    head = ("place", "rows", "events", *(MEASURES[score].name for score in _OF_PLACES))
    return Table.of_texts("places-scores", "Scores by place", head, rows, kept=(head[0], head[3]))


def _pooled_cell(line: Line, digits: int) -> str:
    """Write a mean with its interval, of a new place the interval alone."""
    if line.name == OVER:
        return with_interval(line[1:4], digits)
    return f"{line.low:z.{digits}f} to {line.high:z.{digits}f}"


def place_blocks(places: Mapping[str, Place]) -> list[Block]:
    """Return the scores of one model in each place, as a figure and as a table."""
    lines = {
        name: [
            *(
                Line(place, *measured.scores[name][:3])
                for place, measured in places.items()
                if not np.isnan(measured.scores[name].low)
            ),
            *pool_places(places).get(name, ()),
        ]
        for name in POOLED
    }
    drawn = {name: inside for name, inside in lines.items() if inside}
    return [*[scores_forest(drawn)] * bool(drawn), place_table(places)]
