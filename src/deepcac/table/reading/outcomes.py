"""The outcome of each row: classes of the label column, or an event up to a horizon."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.scoring.censored import FollowUp, observed_risk
from deepcac.scoring.small_cells import FEW, Count, OfSome, Share, Text, join_texts
from deepcac.table.columns.cell_texts import UNKNOWN
from deepcac.table.columns.cells import (
    EXACT,
    as_texts,
    is_numeric,
    is_text,
    numbers,
    plain,
    refuse_missing,
    truth_like,
    truth_words,
)
from deepcac.table.columns.description import Outcome
from deepcac.table.reading.table_files import SampledTable
from deepcac.types import Array, Ids

MOST_CLASSES = 10
BY_COUNT, BY_NUMBER = "the rarer one", "the larger number"  # why a class is the event
_POSITIVE = ("yes", "true", "y", "t", "positive", "pos", "ja", "oui", "si", "s\u00ed", "sim")
_NEGATIVE = ("no", "false", "n", "f", "negative", "neg", "nein", "non", "nee", "nej", "n\u00e3o")
# Words for the end of follow-up, whole or as the first word.
_EVENT = (
    *_POSITIVE, "dead", "died", "death", "deceased", "event", "relapse", "relapsed", "recurrence",
    "recurred", "progression", "progressed", "failure", "failed", "exitus", "expired", "case",
    "sick", "ill", "diseased", "abnormal",
    "tot", "verstorben", "gestorben", "d\u00e9c\u00e9d\u00e9", "fallecido", "deceduto", "malignant",
)  # fmt: skip
_NO_EVENT = (
    *_NEGATIVE, "alive", "living", "censored", "censor", "lost", "survived", "survivor", "none",
    "no event", "event-free", "disease-free", "withdrawn", "discharged", "control",
    "well", "healthy", "normal",
    "lebt", "lebend", "zensiert", "vivant", "censur\u00e9", "vivo", "benign",
)  # fmt: skip
# A class next to two others that may stand for a label that nobody knows, with `UNKNOWN`.
_DOUBTFUL = re.compile(r"(un|not |in)(clear|determinate|certain|specified)|pending", re.IGNORECASE)
_UNKNOWN_CODES = {"-1", "-9", "-99", "8", "9", "88", "99", "888", "999"}


class ClassLabels(NamedTuple):
    """Classes of all rows."""

    codes: Ids  # (n,) Class ids from 0; of two classes 1 is the positive one
    classes: tuple[str, ...]  # as they stand in the table, in the order of the ids
    reason: str  # why the positive class is the positive one; empty for three classes or more

    @property
    def counted(self) -> str:
        """Every class with its number of rows."""
        counts = np.bincount(self.codes, minlength=len(self.classes))
        parts = [
            Text("{!r} in {} rows", name, Count(n))
            for name, n in zip(self.classes, counts, strict=True)
        ]
        return join_texts(", ", parts)


def unknown_classes(classes: tuple[str, ...]) -> list[str]:
    """Return the classes that may stand for an unknown label: by their word, or as a code."""
    words = [text for text in classes if UNKNOWN.fullmatch(text) or _DOUBTFUL.fullmatch(text)]
    codes = sorted(_UNKNOWN_CODES & {*classes})
    coded = len(classes) == 3 and {*classes} - {*codes} in ({"0", "1"}, {"1", "2"})
    return words + codes * coded if len(classes) > 2 else []


def class_labels(
    column: pa.ChunkedArray,
    name: str,
    *,
    positive: str | None = None,
    above: float | None = None,
    status: bool = False,
) -> ClassLabels:
    """Read a label column of every row of a file; a label at fault is a `DataError`.

    `positive` names the event among two classes; `above` makes two classes of a number. The event
    of a `status` at the end of follow-up is known by its word or named, and never guessed.
    """
    cells = plain(column)
    refuse_missing(
        cells, name, "no label; fill it in, or leave such rows out (outcome: rows_without)"
    )
    if not len(cells):  # where rows without a label are left out
        raise DataError(f"column {name!r}: no row has a label")
    if above is not None and positive is not None:
        raise DataError(f"column {name!r}: a number that is divided has no event of its own")
    if above is not None:
        return _divided(cells, name, above)
    shown = _shown(cells, name)
    distinct = pc.unique(shown)
    _refuse_spellings(shown, name)
    if not 2 <= len(distinct) <= MOST_CLASSES:
        raise DataError(_wrong_number(name, distinct, cells))
    ordered, reason = _order(distinct.to_pylist(), shown, name, positive, status)
    codes = pc.index_in(shown, value_set=pa.array(ordered, pa.string()))
    return ClassLabels(codes.to_numpy().astype(np.int64), tuple(ordered), reason)


def _refuse_spellings(shown: pa.ChunkedArray, name: str) -> None:
    """Refuse classes that differ in case, spaces or signs only, with the rows of each."""
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(shown).to_pylist()}
    if len(counts) > 50:
        return
    for texts in alike_spellings(counts):
        listed = ", ".join(f"{text!r} in {Count(counts[text])} rows" for text in texts)
        raise DataError(
            f"column {name!r}: {listed} are different levels, as they stand; spell them alike"
        )


def alike_spellings(texts: Iterable[str]) -> list[list[str]]:
    """Return texts without digits that differ in case, spaces or signs only, in groups.

    Numbers are alike that are equal, such as 01 and 1.
    """
    alike: dict[str, list[str]] = {}
    for text in texts:
        if re.fullmatch(r"\d+(\.0+)?", text):
            alike.setdefault(text.split(".")[0].lstrip("0"), []).append(text)
        elif not re.search(r"\d", text):
            alike.setdefault(re.sub(r"[\s_.-]", "", text).casefold(), []).append(text)
    return [sorted(spellings) for spellings in alike.values() if len(spellings) > 1]


def standing_alone(classes: tuple[str, ...], label: str) -> tuple[str, ...]:
    """Return names of classes that need no heading: ``died = 1`` for a number, a yes or a no."""
    bare = all(_is_whole(name) or name.lower() in (*_POSITIVE, *_NEGATIVE) for name in classes)
    return tuple(f"{label} = {name}" for name in classes) if bare else classes


def _divided(cells: pa.ChunkedArray, name: str, above: float) -> ClassLabels:
    values = numbers(cells, name)
    codes = (values > above).astype(np.int64)
    if codes.min() == codes.max():
        raise DataError(
            f"column {name!r}: {'every' if codes[0] else 'no'} value is above {above:g}; it goes "
            f"from {values.min():g} to {values.max():g}"
        )
    classes = (f"{name} up to {above:g}", f"{name} above {above:g}")
    return ClassLabels(codes, classes, f"made from the number {name!r}, above {above:g}")


def _shown(cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return labels as text; whole numbers without a decimal point, fractions refused."""
    kind = cells.type
    if not (is_text(kind) or is_numeric(kind)):
        raise DataError(f"column {name!r} is of type {kind}; a label is text or a whole number")
    if is_text(kind) and truth_like(pc.unique(cells).to_pylist()):
        return truth_words(cells)
    texts = as_texts(cells)
    values = _values(texts)
    broken = ~((values == np.floor(values)) & (np.abs(values) < EXACT))
    if broken.any() and not np.isnan(values).any():
        row = int(broken.argmax())
        raise DataError(
            f"column {name!r}, data row {row + 1}: {values[row]:g} is no class; use whole numbers "
            "or text, or divide the number (outcome: above, in the description)"
        )
    return texts


def _values(texts: pa.ChunkedArray) -> Array:
    """Return texts as numbers, NaN where one is none."""
    return pd.to_numeric(texts.to_pandas(), errors="coerce").to_numpy(np.float64)


def _wrong_number(name: str, distinct: pa.Array, cells: pa.ChunkedArray) -> str:
    if len(distinct) < 2:
        return (
            f"column {name!r} holds {distinct[0].as_py()!r} in every row; two classes are needed: "
            "name another column by --label, or a table that has both"
        )
    middle = np.median(_values(as_texts(cells)))
    way = f"; divide a number in the description, at its median by above: {middle:g}"
    return (
        f"column {name!r} holds {len(distinct):,} different values; a label has 2 to "
        f"{MOST_CLASSES} classes{'' if np.isnan(middle) else way}"
    )


def _order(
    classes: list[str], shown: pa.ChunkedArray, name: str, positive: str | None, status: bool
) -> tuple[list[str], str]:
    """Return the classes in order, the positive one of two last, and why it is that."""
    if positive is not None and truth_like(classes):
        positive = positive.capitalize()
    if positive is not None and positive not in classes:
        raise DataError(
            f"column {name!r} holds no {positive!r}, which is named as the event; there are "
            f"{', '.join(sorted(classes))}"
        )
    if len(classes) > 2:
        if positive is not None:
            raise DataError(f"an event is one of two classes; {name!r} has {len(classes)}")
        return sorted(classes, key=_rank), ""
    if positive is not None:
        chosen, reason = positive, "as asked for"
    else:
        chosen, reason = _positive(classes, shown)
        if status and reason == BY_COUNT:
            raise DataError(
                f"column {name!r}: {' or '.join(map(repr, sorted(classes)))} may be the event; "
                "name it in the description (outcome: event)"
            )
    return [level for level in classes if level != chosen] + [chosen], reason


def _positive(classes: list[str], shown: pa.ChunkedArray) -> tuple[str, str]:
    events = {level: _is_event(level) for level in classes}
    # Of "Sepsis" and "No sepsis" the second says what is no event; of F and M the first does not.
    saying = [level for level in classes if events[level] is not None and len(level) > 1]
    if {*events.values()} == {False, True} or len(saying) == 1:
        rank = {False: 0, None: 1, True: 2}
        return max(classes, key=lambda level: rank[events[level]]), "by its name"
    if all(_is_whole(level) for level in classes):
        return max(classes, key=int), BY_NUMBER
    counts = [(pc.sum(pc.equal(shown, level)).as_py(), level) for level in sorted(classes)]
    return min(counts)[1], BY_COUNT


def _is_event(text: str) -> bool | None:
    """Return whether a label text means the event (True) or no event (False); None if unknown."""
    lower = re.sub(r"^\d+[\s_.:=-]+", "", text.casefold())  # 1_yes
    first = re.split(r"[\s,;:/(-]", lower)[0]
    if lower in _NO_EVENT or first in _NO_EVENT or re.search(r"\b(free|not|without)\b", lower):
        return False
    return True if lower in _EVENT or first in _EVENT else None


def _rank(text: str) -> tuple[bool, int, str]:
    return (not _is_whole(text), int(text) if _is_whole(text) else 0, text)


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+", text) is not None


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
            f"column {name!r} holds {', '.join(rest)} and the competing events; with a time "
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
    """Describe which risk is estimated, and what counts as censoring."""
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
