"""The part of a page about risks: what they are worth, how right they are, and in subgroups."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup
from scipy.stats import norm

from deepcac.errors import DataError
from deepcac.judging.contenders import parse_contender
from deepcac.judging.predictions import Predictions
from deepcac.pages.sections import Block, Section
from deepcac.pages.tables import Table
from deepcac.pages.wording import minus, p_beside
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE, benefit, estimate, score_intervals
from deepcac.scoring.small_cells import Count, OfSome, Share, Text, join_texts
from deepcac.scoring.statistics import holm
from deepcac.table.answer import Answer, contender_name, signed, with_interval
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.cells import as_texts, plain
from deepcac.table.command_line.option_pairs import CLASSES, given, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.risk_figures import calibration_figure, decision_figure, usual_thresholds
from deepcac.table.pages.score_tables import (
    BENEFIT,
    BENEFIT_NOTE,
    CHANGE,
    SCORE_NOTE,
    Place,
    benefit_table,
    place_rows,
    score_places,
    score_table,
)
from deepcac.table.pages.score_tables import MEASURES as WRITTEN
from deepcac.table.reading.table_encoder import column_parts
from deepcac.types import Array, Flags

APART = " (never both outcomes in one test part)"
MEASURES = (AUROC, RATIO, SLOPE, BENEFIT)
_MOST_LEVELS, _BANDS, _MOST_GROUPS = 8, 4, 50


class Gap(NamedTuple):
    """A difference with its 95 % interval; of O/E it is a ratio. `p` is adjusted by Holm 1979."""

    value: float
    low: float
    high: float
    p: float


def subgroup_section(
    table: LabelledTable, predictions: Predictions, columns: Sequence[str], threshold: float
) -> list[Block]:
    """Return the section on subgroups; none where no columns make any.

    Patients are drawn again with all their predictions; the models stay as they are.

    Parameters
    ----------
    table : LabelledTable
        The table of the predictions.
    predictions : Predictions
        Risks by the model that is scored, and, second, by one with clusters, if there is one.
    columns : sequence of str
    threshold : float
        Risk from which a patient is treated.
    """
    if not columns:
        return []
    shown, few = subgroups(table, predictions, columns, threshold)
    treated = f"net true positives per 1,000, treating from {100 * threshold:.3g} % on"
    names = {AUROC: "AUROC", CHANGE: CHANGE, RATIO: "O/E", SLOPE: "slope", BENEFIT: treated}
    if len(predictions.risk) == 1:
        del names[CHANGE]
    every = {
        f"{column} {name}": place for column, of in shown.items() for name, place in of.items()
    }
    blocks: list[Block] = []
    if every:
        head = ("subgroup", "rows", "events", *names.values())
        rows = place_rows(every, names)
        blocks.append(Table.of_texts("subgroups", "Subgroups", head, rows, kept=(head[0], head[3])))
    gaps = subgroup_gaps(shown)
    if gaps:
        blocks += [_GAP_NOTE.format(n=len(MEASURES) * len(gaps)), _gap_table(gaps, names)]
    if few:
        text = (
            "Fewer than ten events, or than ten patients known to be without one: {}. They are not "
            "shown."
        )
        blocks.append(Text(text, join_texts(", ", few)))
    return [Section("subgroups", "Subgroups", blocks)]


_GAP_NOTE = (
    "Differences from the largest subgroup of a column (of O/E the ratio), with 95 % intervals "
    "from drawing patients again. The p values are adjusted by Holm over all {n} differences; the "
    "intervals are not. A larger share of events by itself moves the net benefit. An undecided "
    "difference is no proof that a model is fair."
)


def subgroups(
    table: LabelledTable, predictions: Predictions, columns: Sequence[str], threshold: float
) -> tuple[dict[str, dict[str, Place]], list[str]]:
    """Return the subgroups with enough events, by column and level; and the names of the others."""
    shown, few = {}, []
    for column in columns:
        shown[column], rare = score_places(predictions, levels_of(table, column), threshold)
        for name, n, enough in rare:
            named = OfSome(name, n, instead="(a level of few rows)")
            few.append(Text("{} {}{}", column, named, APART * enough))
    return shown, list(dict.fromkeys(few))


def subgroup_gaps(shown: Mapping[str, Mapping[str, Place]]) -> dict[str, dict[str, Gap]]:
    """Return each subgroup minus the largest one of its column, by `MEASURES`.

    All p values are one family.
    """
    pairs, gaps = [], []
    for column, levels in shown.items():
        largest = max(levels, key=lambda name: levels[name].predictions.rows, default="")
        for name, place in levels.items():
            if name != largest:
                pairs.append(f"{column} {name} – {largest}")
                drawn = place.drawn, levels[largest].drawn
                gaps += [_gap(measure, *(side[measure] for side in drawn)) for measure in MEASURES]
    adjusted = iter(
        gap._replace(p=float(p)) for gap, p in zip(gaps, holm([gap.p for gap in gaps]), strict=True)
    )
    return {pair: {name: next(adjusted) for name in MEASURES} for pair in pairs}


def _gap(measure: str, ours: Array, theirs: Array) -> Gap:
    """Return the difference of a measure, with the normal interval of its bootstrap."""
    if measure == RATIO:
        ours, theirs = (np.log(np.maximum(side, 1e-9)) for side in (ours, theirs))
    drawn = ours - theirs
    if np.isnan(drawn[1:]).all():
        return Gap(*[np.nan] * 4)
    value, error = float(drawn[0]), float(np.nanstd(drawn[1:], ddof=1))
    half = float(norm.ppf(0.975)) * error
    p = float(2 * norm.sf(abs(value) / error)) if error > 0 else 1.0
    ends = np.array([value, value - half, value + half])
    value, low, high = (np.exp(ends) if measure == RATIO else ends).tolist()
    return Gap(value, low, high, p)


def _gap_table(gaps: Mapping[str, Mapping[str, Gap]], names: Mapping[str, str]) -> Table:
    rows = []
    for pair, measures in gaps.items():
        cells = []
        for name, gap in measures.items():
            difference = with_interval(gap, WRITTEN[name].digits, sign=name != RATIO)
            defined = not np.isnan(gap.value)
            cells.append(f"{difference}, p {p_beside(gap.p)}" if defined else "not defined")
        rows.append((pair, *cells))
    ratio = {**names, RATIO: "O/E, a ratio"}
    head = ("subgroup, minus the largest", *(ratio[name] for name in MEASURES))
    return Table.of_texts("subgroup-differences", "Differences between subgroups", head, rows)


def check_columns(table: LabelledTable, columns: Sequence[str]) -> None:
    """Raise `DataError` if subgroups cannot be made of these columns."""
    for column in columns:
        if column == table.label:
            raise DataError(f"--by {column}: is the outcome; name a column that is known before")
        if column not in table.rows.column_names:
            listed = ", ".join(table.rows.column_names[:20])
            quoted = [name for name in table.rows.column_names if "," in name and column in name]
            way = "; put a name with a comma in quotation marks, such as "
            way += f"""--by '"{quoted[0]}"'""" if quoted else ""
            raise DataError(
                f"--by {column}: there is no such column; known: {listed}{way if quoted else ''}"
            )
        levels = len({*_texts(table, column)})
        if column not in table.encoder.names and levels > _MOST_GROUPS:
            raise DataError(f"--by {column}: has {levels:,} values; name a column of fewer groups")


def _texts(table: LabelledTable, column: str) -> npt.NDArray[np.object_]:
    cells = as_texts(plain(table.rows[column])).to_pylist()
    return np.array(["missing" if cell in (None, "nan") else cell for cell in cells], dtype=object)


def levels_of(table: LabelledTable, column: str) -> Iterator[tuple[str, Flags]]:
    """Yield each level of a column, and which rows of the table have it."""
    texts = _texts(table, column)
    places = table.encoder.places
    if column not in places or len(set(texts)) <= _MOST_LEVELS:
        for text in sorted(set(texts)):
            yield text, texts == text
        return
    # The cuts of `profile`: with others, two pages together would show who lies at a cut.
    used = next(entry for entry in table.encoder.used if entry.name == column)
    parts = column_parts(used, table.features.X, places, _BANDS)
    for j, name in enumerate(parts.names):
        yield name, parts.number == j


_FIVE = (0.05, 0.1, 0.2, 0.3, 0.5)  # thresholds of a table, unless others are asked for
_DEFAULT = "They are the default: from a third of the odds of the event to their triple."
DRAWN = "The 95 % intervals come from resampling patients; the models are held fixed."
TIMED = (
    "At the horizon every score is weighted by the inverse chance of being still followed, as "
    "estimated from the test patients of a part, and anew in each bootstrap sample: AUROC(t) is "
    "the cumulative/dynamic one (Uno et al. 2007), Brier(t) that of Graf et al. (1999), slope "
    "and curve are weighted logistic regressions. Observed events are those of Kaplan and Meier "
    "(with competing events of Aalen and Johansen), also among the treated of a net benefit."
)


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

    def ends(self, share: float) -> Array:
        """Return thresholds from the lowest to the highest, for an event of this share."""
        return usual_thresholds(share) if self.thresholds is None else np.array(self.thresholds)

    def treated_from(self, share: float) -> float:
        """Return the threshold of subgroups: the lowest, or the share of the event."""
        return share if self.thresholds is None else self.thresholds[0]


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
    # A name with a comma is in quotation marks, as in CSV.
    parts = next(csv.reader([by or ""], skipinitialspace=True), [])
    names = map(uniform, parts)
    return RiskQuestions(ends, tuple(dict.fromkeys(filter(None, names))))


def check_asked(table: LabelledTable, asked: RiskQuestions) -> None:
    """Raise `ConfigError` or `DataError` if what is asked has no answer on this table."""
    check_columns(table, asked.by)
    several = [CLASSES] * (table.features.n_classes > 2)
    refuse_pairs([*given(thresholds=asked.thresholds, by=asked.by), *several])


def risk_section(
    table: LabelledTable,
    predictions: Predictions,
    answer: Answer,
    asked: RiskQuestions,
    sizes: Sequence[Block] = (),
) -> Section:
    """Return the section on the risks of the best model without clusters, and with them.

    `sizes` are blocks on how many patients are needed.
    """
    names = {name: contender_name(name) for name in (answer.best, answer.clustered)}
    renamed, share = predictions.named(names), predictions.share
    change = worth(predictions, answer.clustered, answer.best, asked.ends(share))
    blocks: list[Block] = [
        Markup("<b>{}</b>").format(minus(change)),
        "The best model without clusters, and the best with them, each by the trial with the best "
        "log loss on validation rows; the first lines are of the trial with the best AUROC, so the "
        "AUROC can differ.",
        *_horizon_note(table, predictions),
        partial(calibration_figure, {"": renamed}, table.shown_classes),
        score_table(
            {name: score_intervals(renamed.of(name), renamed.draws) for name in renamed.risk}
        ),
        f"{SCORE_NOTE} {DRAWN}",
        *benefit_blocks({"": renamed}, asked, share),
        *sizes,
        *subgroup_section(table, renamed, asked.by, asked.treated_from(share)),
    ]
    follow = table.follow
    heading = "Risks and decisions" if follow is None else f"Risks by {follow.horizon:g}"
    return Section("risks", heading, blocks)


def benefit_blocks(
    places: Mapping[str, Predictions], asked: RiskQuestions, share: float
) -> list[Block]:
    """Return what acting on risks is worth; `share` is that of the event."""
    ends = asked.ends(share)
    by_default = f" {_DEFAULT}" * (asked.thresholds is None)
    return [
        decision_figure(places, ends),
        benefit_table(places, asked.five),
        BENEFIT_NOTE,
        f"Thresholds from {100 * ends[0]:.1f} % to {100 * ends[-1]:.1f} % (the option --thresholds "
        f"sets them).{by_default}",
    ]


def _horizon_note(table: LabelledTable, predictions: Predictions) -> list[str]:
    """Describe how many patients have the event by the horizon, where there is one."""
    if table.follow is None:
        return []
    estimator = "Kaplan-Meier" if table.follow.other is None else "Aalen-Johansen"
    return [
        Text(
            "{} of the {} test patients have the event by {:g} ({}). {}",
            Share(round(predictions.share * predictions.rows), predictions.rows),
            *(Count(predictions.rows), table.follow.horizon, estimator),
            TIMED,
        )
    ]


def worth(predictions: Predictions, clustered: str, best: str, ends: Array) -> str:
    """Describe what clusters change per 1,000 patients at the lowest and highest threshold."""
    if np.array_equal(predictions.risk[clustered], predictions.risk[best]):
        return "Clusters change no treatment here, because none were chosen."
    same = parse_contender(clustered).learner == best
    what = "clusters change" if same else f"{_instead(clustered, best)} changes"
    changes = []
    for threshold in (float(ends[0]), float(ends[-1])):
        ours, theirs = (
            benefit(predictions.of(name), predictions.draws, threshold)
            for name in (clustered, best)
        )
        gain = estimate("", float(ours[0] - theirs[0]), (ours - theirs)[1:])
        change = f"{abs(gain.value):.1f} {'more' if gain.value > 0 else 'fewer'}"
        change = change if round(gain.value, 1) else "no change"
        changes.append(
            f"from a risk of {100 * threshold:.3g} % on, {change} (95 % interval "
            f"{signed(gain.low, 1)} to {signed(gain.high, 1)})"
        )
    return (
        f"Per 1,000 patients, {what} the net benefit (correctly treated minus weighted "
        f"false alarms): treating {'; '.join(changes)}."
    )


def _instead(clustered: str, best: str) -> str:
    return f"{contender_name(clustered)} in place of {contender_name(best)}"
