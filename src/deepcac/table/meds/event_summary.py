"""Events before a prediction time as one row: what was seen, how often, and how long ago."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from deepcac.table.meds.meds_files import CODE, PREDICTED_AT, SUBJECT, TIME, VALUE
from deepcac.types import Array

SEEN = ("count", "days_since")  # of every code with a time
MEASURED = ("last", "mean", "change")  # of those with numbers
FLAG, STATIC = "recorded", "value"  # of codes without a time
_DAY = 86_400.0  # seconds
_ROW = "row"


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
    seen = before_prediction(wanted, rows)
    timeless = seen[TIME].isna()
    series = _timed(seen[~timeless]) | _static(seen[timeless])
    tables = {kind: values.unstack(level=CODE) for kind, values in series.items()}
    return {feature.name: _column(tables[feature.kind], feature, len(rows)) for feature in features}


def _timed(seen: pd.DataFrame) -> dict[str, pd.Series]:
    """Return each summary by (code, row) of events with a time."""
    ordered = seen.sort_values(TIME, kind="stable")
    groups = ordered.groupby([CODE, _ROW], observed=True)
    latest = groups[[TIME, PREDICTED_AT]].last()
    values = groups[VALUE]
    last = values.last()
    return {
        "count": groups.size().astype(np.float64),
        "days_since": (latest[PREDICTED_AT] - latest[TIME]).dt.total_seconds() / _DAY,
        "last": last,
        "mean": values.mean(),
        "change": last - values.first(),
    }


def _static(seen: pd.DataFrame) -> dict[str, pd.Series]:
    groups = seen.groupby([CODE, _ROW], observed=True)
    return {FLAG: (groups.size() > 0).astype(np.float64), STATIC: groups[VALUE].last()}


def _column(table: pd.DataFrame, feature: EventFeature, n: int) -> Array:
    """Return one feature of n rows; a code that a row lacks is 0 times there."""
    never = 0.0 if feature.kind in ("count", FLAG) else np.nan
    column = np.full(n, never)
    if feature.code in table:
        values = table[feature.code].to_numpy(dtype=np.float64)
        column[table.index.to_numpy()] = np.where(np.isnan(values), never, values)
    return column


def subjects_by_code(events: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return how many subjects have each code with a time, without one, and with a number.

    The events are shards of `before_prediction`; no subject stands in two. The frame is indexed by
    code and has ``subjects``, ``timed``, ``static`` and ``numeric``.
    """
    counts = []
    for shard in events:
        marks = pd.DataFrame(
            {
                CODE: shard[CODE].astype(str),
                SUBJECT: shard[SUBJECT],
                "subjects": True,
                "timed": shard[TIME].notna(),
                "static": shard[TIME].isna(),
                "numeric": shard[VALUE].notna(),
            }
        )
        counts.append(marks.groupby([CODE, SUBJECT]).any().groupby(level=CODE).sum())
    return pd.concat(counts).groupby(level=0).sum()
