"""Events before a prediction time as one row: what was seen, how often, and how long ago."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from deepcac.table.meds.meds_files import CODE, PREDICTED_AT, SUBJECT, TIME, VALUE
from deepcac.types import Array

SEEN = ("count", "days_since")  # of every code with a time
MEASURED = ("last", "mean", "change")  # of those with numbers
FLAG, STATIC = "recorded", "value"  # of codes without a time
_DAY = 86_400.0  # seconds
_ROW = "row"
_NEVER = {"count": 0.0, FLAG: 0.0}  # of a code that a row lacks; other summaries are missing


class EventFeature(NamedTuple):
    """One column: a code and what is told of it.

    Attributes
    ----------
    code : str
    kind : str
        ``count``, ``days_since``, ``last``, ``mean``, ``change`` (last minus first), or of a code
        without a time ``recorded`` (0 or 1) and ``value``.
    """

    code: str
    kind: str

    @property
    def name(self) -> str:
        """Name of the column."""
        return f"{self.code}_{self.kind}"

    @classmethod
    def parse(cls, name: str) -> "EventFeature | None":
        """Return the feature of a name; None for a name that no feature has."""
        for kind in (*SEEN, *MEASURED, FLAG, STATIC):
            if name.endswith(f"_{kind}"):
                return cls(name.removesuffix(f"_{kind}"), kind)
        return None


def code_features(code: str, *, timed: bool, static: bool, numeric: bool) -> list[EventFeature]:
    """Return the features of a code that stands with a time, without one, or with numbers."""
    kinds = [*(SEEN if timed else ()), *(MEASURED if timed and numeric else ())]
    kinds += [*([FLAG] if static else []), *([STATIC] if static and numeric else [])]
    return [EventFeature(code, kind) for kind in kinds]


def before_prediction(events: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the events of each labelled row up to its prediction time, and those without time.

    Events are of `meds_files.read_events`. Rows have ``subject_id`` and ``prediction_time``; their
    place is added as ``row``.
    """
    numbered = rows[[SUBJECT, PREDICTED_AT]].assign(**{_ROW: np.arange(len(rows))})
    joined = events.merge(numbered, on=SUBJECT)
    return joined[joined[TIME].isna() | (joined[TIME] <= joined[PREDICTED_AT])]


def summarise(
    events: pd.DataFrame, rows: pd.DataFrame, features: Sequence[EventFeature]
) -> dict[str, Array]:
    """Return every feature of every labelled row, of shape (len(rows),), by its name.

    A code that was never seen has count (or flag) 0 and is missing in the others. Events and rows
    are those of `before_prediction`.
    """
    wanted = events[events[CODE].isin({feature.code for feature in features})]
    seen = before_prediction(wanted, rows).sort_values(TIME, kind="stable")
    timeless = seen[TIME].isna()
    timed, static = (
        part.groupby([CODE, _ROW], observed=True) for part in (seen[~timeless], seen[timeless])
    )
    since, values = timed[[TIME, PREDICTED_AT]].last(), timed[VALUE]
    series: dict[str, pd.Series[Any]] = {
        "count": timed.size(),
        "days_since": (since[PREDICTED_AT] - since[TIME]).dt.total_seconds() / _DAY,
        "last": values.last(),
        "mean": values.mean(),
        "change": values.last() - values.first(),
        FLAG: static.size() > 0,
        STATIC: static[VALUE].last(),
    }
    places = pd.RangeIndex(len(rows))
    tables = {kind: told.unstack(level=CODE).reindex(places) for kind, told in series.items()}
    absent = pd.Series(np.nan, places)
    columns = {}
    for feature in features:
        told = tables[feature.kind].get(feature.code, absent).astype(float)
        filled = told.fillna(_NEVER.get(feature.kind, np.nan))
        columns[feature.name] = np.asarray(filled, dtype=np.float64)
    return columns


def subjects_by_code(events: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return how many subjects have each code with a time, without one, and with a number.

    The events are shards of `before_prediction`; no subject stands in two. The frame is indexed by
    code and has ``subjects``, ``timed``, ``static`` and ``numeric``.
    """
    counts = []
    for shard in events:
        timed, numeric = shard[TIME].notna(), shard[VALUE].notna()
        marks = (
            shard[[CODE, SUBJECT]]
            .astype({CODE: str})
            .assign(subjects=True, timed=timed, static=~timed, numeric=numeric)
        )
        counts.append(marks.groupby([CODE, SUBJECT]).any().groupby(level=CODE).sum())
    return pd.concat(counts).groupby(level=0).sum()
