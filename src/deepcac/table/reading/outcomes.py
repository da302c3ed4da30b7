"""The outcome of each row: classes of the label column, or an event up to a horizon."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.small_cells import FEW, Count, OfSome, Share, Text
from deepcac.table.columns.cells import numbers, plain
from deepcac.table.columns.description import Outcome
from deepcac.table.reading.class_labels import ClassLabels, class_labels, unknown_classes
from deepcac.table.reading.row_sample import SampledTable
from deepcac.types import Ids

_OTHER_EVENT = "; outcome: event in the description chooses the other"
FEWEST_EVENTS = 20  # up to the horizon
FEWEST_AT_RISK = 20  # still followed at the horizon
FEWEST_WITHOUT = 40  # known to be without the event, in a table that is divided


class Outcomes(NamedTuple):
    """What came of the rows of a sample."""

    codes: Ids  # (n,) Class ids
    classes: tuple[str, ...]  # what they stand for
    # Classes of the label column, as they stand in the table; at a horizon no event, the event
    words: tuple[str, ...]
    reason: str  # why the positive class is the positive one
    follow: FollowUp | None
    counted: str  # rows of the file of each class of the label column

    @property
    def counts(self) -> list[int]:
        """Rows of the sample of each class."""
        return [int(n) for n in np.bincount(self.codes, minlength=len(self.classes))]

    @property
    def sentence(self) -> str:
        """The classes of the label, and which of two is the positive one, and why."""
        other = "" if self.reason.startswith(("made", "as asked")) else _OTHER_EVENT
        event = f" Positive class: {self.words[1]} ({self.reason}{other})." if self.reason else ""
        doubt = "".join(
            f" {text!r} is a class like the others; if it means that the label is not known, "
            "remove its rows."
            for text in unknown_classes(self.words)
        )
        return Text("Label: {}.{}{}", self.counted, event, doubt)

    def named(self, asked: Outcome) -> Outcome:
        """Return an outcome with the class that was taken for the event."""
        if len(self.words) != 2 or asked.above is not None:
            return asked
        return asked.model_copy(update={"event": self.words[1]})

    def remarks(self, sample: SampledTable, *, fitted: bool = True) -> list[str]:
        """Return what a reader must know of the outcomes of a sample, and of `fitted` models."""
        remarks = [] if self.follow is None else horizon_remarks(self.follow, fitted=fitted)
        remarks.append(self.sentence)
        if not sample.complete:
            sizes = Count(len(sample.number)), Count(sample.total)
            remarks.append(Text("Sampled: {} of {} rows, drawn at random.", *sizes))
        return remarks


def read_outcomes(sample: SampledTable, asked: Outcome) -> Outcomes:
    """Read the label, and with a horizon the follow-up; a cell at fault is a `DataError`."""
    labels, other, rows = _labels(sample.keys[asked.field], asked)
    positions = sample.place
    codes, classes, words = labels.codes[positions], labels.classes, labels.classes
    if asked.time is None or asked.horizon is None:
        return Outcomes(codes, classes, words, labels.reason, None, rows)
    if len(classes) > 2:
        raise DataError(
            f"column {asked.field!r} has {len(classes)} classes ({', '.join(classes)}); with "
            "a time it says whether the event came: name what is another event (competing), "
            "or make two classes of it"
        )
    follow = read_follow_up(
        sample.rows[asked.time], asked.time, sample.number, codes == 1, asked.horizon,
        None if other is None else other[positions],
    )  # fmt: skip
    return Outcomes(
        follow.outcome,
        horizon_classes(asked.field, follow),
        words,
        labels.reason,
        follow,
        rows,
    )


def _labels(
    column: pa.ChunkedArray, asked: Outcome
) -> tuple[ClassLabels, npt.NDArray[np.bool_] | None, str]:
    """Return the classes of all rows, which rows have a competing event instead, and counts."""
    name = asked.field
    status = asked.time is not None
    if not asked.competing:
        labels = class_labels(column, name, positive=asked.event, above=asked.above, status=status)
        return labels, None, labels.counted
    every = class_labels(column, name)
    for value in asked.competing:
        if value not in every.classes:
            raise DataError(
                f"column {name!r} holds no {value!r} as a competing event; there are "
                f"{', '.join(every.classes)}"
            )
    other = np.isin(every.codes, [every.classes.index(value) for value in asked.competing])
    rest = [level for level in every.classes if level not in asked.competing]
    if len(rest) != 2:
        raise DataError(
            f"column {name!r} holds {', '.join(rest)} beside the competing events; with a time "
            "two are needed: the event, and the end of follow-up without it"
        )
    labels = class_labels(
        column.filter(pa.array(~other)), name, positive=asked.event, status=status
    )
    codes = np.zeros(len(other), dtype=np.int64)
    codes[~other] = labels.codes
    return labels._replace(codes=codes), other, every.counted


def read_follow_up(
    column: pa.ChunkedArray,
    name: str,
    number: Ids,
    event: npt.NDArray[np.bool_],
    horizon: float,
    other: npt.NDArray[np.bool_] | None = None,
) -> FollowUp:
    """Read follow-up times, in the unit of the horizon; `number` is that of each row in its file.

    `other` tells which rows have a competing event at their time. A time that is missing or
    negative, and a horizon that leaves too few events or patients at risk, are a `DataError`.
    """
    time = numbers(plain(column), name, number)
    broken = ~(time >= 0)
    if broken.any():
        row = int(broken.argmax())
        what = "no time" if np.isnan(time[row]) else f"{time[row]:g} is no follow-up time"
        raise DataError(
            f"column {name!r}, data row {number[row]}: {what}; fill it in, or remove the row"
        )
    follow = FollowUp(time, event, horizon, other)
    events, left = int(follow.outcome.sum()), int((time >= horizon).sum())
    if events < FEWEST_EVENTS:
        raise DataError(
            f"column {name!r}: fewer than {FEWEST_EVENTS} events up to {horizon:g}; choose a later "
            "horizon"
        )
    if left < FEWEST_AT_RISK:
        raise DataError(
            f"column {name!r}: fewer than {FEWEST_AT_RISK} patients are followed up to "
            f"{horizon:g}; choose an earlier horizon"
        )
    return follow


def check_divisible(follow: FollowUp, name: str) -> None:
    """Refuse a horizon that leaves too few known outcomes without the event to divide the table.

    A table is divided by event or not; the outcomes that are not known count as no event there, so
    that few known ones may all lie on one side. `name` is that of the column of times.
    """
    without = int((follow.outcome_known & (follow.outcome == 0)).sum())
    if without < FEWEST_WITHOUT:
        raise DataError(
            f"column {name!r}: {without} patients are known to be without the event up to "
            f"{follow.horizon:g}, and {FEWEST_WITHOUT} are needed for training, validation and "
            "test; choose an earlier horizon"
        )


def horizon_classes(label: str, follow: FollowUp) -> tuple[str, str]:
    """Return what the two classes stand for."""
    by = f"by {follow.horizon:g}"
    return f"{label} not seen {by}", f"{label} {by}"


def horizon_remarks(follow: FollowUp, *, fitted: bool = True) -> list[str]:
    """Return what a reader must know of a risk at a horizon, and of models that are `fitted`."""
    lost = int((~follow.outcome_known).sum())
    share = Share(lost, len(follow.outcome_known))
    unknown = Text(
        " We do not know this for {} of the patients, because their follow-up ended earlier.",
        OfSome(share, lost, instead=Count(lost)),
    )
    return [
        Text(
            "The question is who has the event by {:g}, in the unit of the time column.{}",
            *(follow.horizon, unknown if lost else ""),
        ),
        "Every score is weighted for censoring. This assumes that patients leave follow-up for "
        "reasons that have nothing to do with their risk; no table can show that.",
        *[
            "Patients of unknown outcome are left out of fits and of the clusters that are "
            "compared. The others weigh more in the fits of models; clusters are made without "
            "weights."
        ]
        * fitted,
        _estimand(follow),
    ]


def _estimand(follow: FollowUp) -> str:
    """Say which risk is estimated, and what counts as censoring."""
    if follow.other is None:
        return (
            "No competing event was named (competing). A patient who died of something else "
            "counts as if follow-up had ended, so the risk is that in a world without other "
            "events; it is too high for this one where they are common."
        )
    rival = FollowUp(follow.time, follow.other, follow.horizon, follow.event)
    n, risk = len(rival.time), observed_risk(rival)[0]
    share = Share(round(risk * n), n) if rival.outcome.sum() >= FEW else "Few"
    return Text(
        "The risk is that of the event coming first and by the horizon, in a world in which the "
        "competing events do happen (cumulative incidence, Aalen and Johansen). A patient with a "
        "competing event is not censored: the outcome is known. "
        "{} have a competing event first by the horizon.",
        share,
    )
