"""A rule of one statistic that says beforehand whether clusters help, and how often it errs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.scoring.statistics import wilson
from deepcac.task import Array

Flags = npt.NDArray[np.bool_]


class Tried(NamedTuple):
    """A rule on tables that did not choose it.

    Clusters are said to help above `threshold`, of all tables together; it is infinite for "never".
    `errors` and `never_errors` count tables on which the rule, and on which "never", was wrong;
    `low` and `high` are the 95 % interval of the rule's share. `p` is exact, one-sided: the rule
    errs less often than "never". `line_error` and `mean_error` are root mean squared errors of the
    gain, by a line through the statistic and by the mean.
    """

    threshold: float
    errors: int
    never_errors: int
    low: float
    high: float
    p: float
    line_error: float
    mean_error: float


def best_threshold(x: Array, helped: Flags) -> float:
    """Return the threshold with the fewest errors; of these the middle of the widest gap.

    The gap above the largest value is the widest, that below the smallest has no width: where it
    errs no more often, the rule says "never".
    """
    order = np.unique(x)
    gaps = np.concatenate([[0.0], np.diff(order), [np.inf]])
    thresholds = np.concatenate([[-np.inf], order[:-1] + np.diff(order) / 2, [np.inf]])
    errors = np.array([np.count_nonzero((x > t) != helped) for t in thresholds])
    fewest = np.flatnonzero(errors == errors.min())
    return float(thresholds[fewest[np.argmax(gaps[fewest])]])


def try_rule(x: Array, gain: Array, margin: float, group: Sequence[Any]) -> Tried:
    """Leave each group of tables out in turn; the others choose threshold and line.

    `x`, of shape (m,), is the statistic. A gain of clusters of `margin` or more is help.
    """
    helped, names = gain >= margin, np.asarray(group)
    said, line, mean = np.zeros(len(x), dtype=bool), np.empty(len(x)), np.empty(len(x))
    for one in np.unique(names):
        out = names == one
        said[out] = x[out] > best_threshold(x[~out], helped[~out])
        line[out] = np.polyval(np.polyfit(x[~out], gain[~out], 1), x[out])
        mean[out] = gain[~out].mean()
    wrong, never = said != helped, helped
    better, worse = np.count_nonzero(never & ~wrong), np.count_nonzero(wrong & ~never)
    p = float(stats.binom.sf(better - 1, better + worse, 0.5)) if better + worse else 1.0
    low, high = wilson(np.array([wrong.mean()]), np.array([len(x)]))
    return Tried(
        best_threshold(x, helped),
        int(wrong.sum()),
        int(never.sum()),
        float(low[0]),
        float(high[0]),
        p,
        *(float(np.sqrt(np.mean((gain - one) ** 2))) for one in (line, mean)),
    )
