"""The part of a comparison's page about risks: what they are worth, and how right they are."""

import csv
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from deepcac.errors import DataError
from deepcac.judging.contenders import parse_contender
from deepcac.pages.sections import Block, Section
from deepcac.pages.wording import minus
from deepcac.scoring.resampled_scores import benefit, estimate, score_intervals
from deepcac.scoring.small_cells import Count, Share, Text
from deepcac.table.answer import Answer, contender_name, signed
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.command_line.option_pairs import CLASSES, given, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.risk_figures import calibration_figure, decision_figure, usual_thresholds
from deepcac.table.pages.score_tables import (
    BENEFIT_NOTE,
    SCORE_NOTE,
    benefit_table,
    score_table,
)
from deepcac.table.pages.subgroups import check_columns, subgroup_section
from deepcac.table.predictions import Predictions
from deepcac.types import Array

_FIVE = (0.05, 0.1, 0.2, 0.3, 0.5)  # thresholds of a table, unless others are asked for
_DEFAULT = "They are the default: from a third of the odds of the event to their triple."
DRAWN = "The 95 % intervals come from resampling patients; the models are held fixed."
TIMED = (
    "At the horizon every score is weighted by the inverse chance of being still followed, as "
    "learnt from the judged patients of a part, and anew in each bootstrap sample: AUROC(t) is "
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
    # A name with a comma stands in quotation marks, as in CSV.
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
    judged, share = predictions.named(names), predictions.share
    change = worth(predictions, answer.clustered, answer.best, asked.ends(share))
    blocks: list[Block] = [
        Markup("<b>{}</b>").format(minus(change)),
        "The best model without clusters, and the best with them, each by the trial with the best "
        "log loss on validation rows; the first lines are of the trial with the best AUROC, so the "
        "AUROC can differ.",
        *_horizon_note(table, predictions),
        partial(calibration_figure, {"": judged}, table.shown_classes),
        score_table({name: score_intervals(judged.of(name), judged.draws) for name in judged.risk}),
        f"{SCORE_NOTE} {DRAWN}",
        *benefit_blocks({"": judged}, asked, share),
        *sizes,
        *subgroup_section(table, judged, asked.by, asked.treated_from(share)),
    ]
    follow = table.follow
    heading = "Risks and decisions" if follow is None else f"Risks by {follow.horizon:g}"
    return Section("risks", heading, blocks)


def benefit_blocks(
    judged: Mapping[str, Predictions], asked: RiskQuestions, share: float
) -> list[Block]:
    """Return what acting on risks is worth, of an event of some share."""
    ends = asked.ends(share)
    by_default = f" {_DEFAULT}" * (asked.thresholds is None)
    return [
        decision_figure(judged, ends),
        benefit_table(judged, asked.five),
        BENEFIT_NOTE,
        f"Thresholds from {100 * ends[0]:.1f} % to {100 * ends[-1]:.1f} % (the option --thresholds "
        f"sets them).{by_default}",
    ]


def _horizon_note(table: LabelledTable, predictions: Predictions) -> list[str]:
    """Say how many patients have the event by the horizon, where there is one."""
    if table.follow is None:
        return []
    estimator = "Kaplan-Meier" if table.follow.other is None else "Aalen-Johansen"
    return [
        Text(
            "{} of the {} judged patients have the event by {:g} ({}). {}",
            Share(round(predictions.share * predictions.rows), predictions.rows),
            *(Count(predictions.rows), table.follow.horizon, estimator),
            TIMED,
        )
    ]


def worth(predictions: Predictions, clustered: str, best: str, ends: Array) -> str:
    """Say what clusters change at the lowest and the highest threshold, among 1,000 patients."""
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
