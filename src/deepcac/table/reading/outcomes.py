"""The outcome of each row: classes of the label column, or an event up to a horizon."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.scoring.censored import FollowUp
from deepcac.table.columns.roles import Roles
from deepcac.table.reading.class_labels import ClassLabels, class_labels
from deepcac.table.reading.follow_up import horizon_classes, read_follow_up
from deepcac.table.reading.row_sample import SampledTable
from deepcac.types import Ids


class Outcomes(NamedTuple):
    """What came of the rows of a sample.

    Attributes
    ----------
    codes : ndarray of shape (n,), int64
        Class ids.
    classes : tuple of str
        What they stand for.
    words : tuple of str
        Classes of the label column, as they stand in the table; at a horizon no event, the event.
    reason : str
        Why the positive class is the positive one.
    follow : FollowUp or None
    counted : str
        Rows of the file of each class of the label column.
    """

    codes: Ids
    classes: tuple[str, ...]
    words: tuple[str, ...]
    reason: str
    follow: FollowUp | None
    counted: str


def read_outcomes(sample: SampledTable, roles: Roles) -> Outcomes:
    """Read the label, and with a horizon the follow-up; a cell at fault is a `DataError`."""
    labels, other, rows = _labels(sample.keys[roles.label], roles)
    positions = sample.place
    codes, classes, words = labels.codes[positions], labels.classes, labels.classes
    if roles.time is None or roles.horizon is None:
        return Outcomes(codes, classes, words, labels.reason, None, rows)
    if len(classes) > 2:
        raise DataError(
            f"column {roles.label!r} has {len(classes)} classes ({', '.join(classes)}); with "
            "a time it says whether the event came: name what is another event (competing), "
            "or make two classes of it"
        )
    follow = read_follow_up(
        sample.rows[roles.time], roles.time, sample.number, codes == 1, roles.horizon,
        None if other is None else other[positions],
    )  # fmt: skip
    return Outcomes(
        follow.outcome,
        horizon_classes(roles.label, follow),
        words,
        labels.reason,
        follow,
        rows,
    )


def _labels(
    column: pa.ChunkedArray, roles: Roles
) -> tuple[ClassLabels, npt.NDArray[np.bool_] | None, str]:
    """Return the classes of all rows, which rows have a competing event instead, and counts."""
    name = roles.label
    status = roles.time is not None
    if not roles.competing:
        labels = class_labels(
            column, name, positive=roles.positive, above=roles.above, status=status
        )
        return labels, None, labels.counted
    every = class_labels(column, name)
    for value in roles.competing:
        if value not in every.classes:
            raise DataError(
                f"column {name!r} holds no {value!r} as a competing event; there are "
                f"{', '.join(every.classes)}"
            )
    other = np.isin(every.codes, [every.classes.index(value) for value in roles.competing])
    rest = [level for level in every.classes if level not in roles.competing]
    if len(rest) != 2:
        raise DataError(
            f"column {name!r} holds {', '.join(rest)} beside the competing events; with a time "
            "two are needed: the event, and the end of follow-up without it"
        )
    labels = class_labels(
        column.filter(pa.array(~other)), name, positive=roles.positive, status=status
    )
    codes = np.zeros(len(other), dtype=np.int64)
    codes[~other] = labels.codes
    return labels._replace(codes=codes), other, every.counted
