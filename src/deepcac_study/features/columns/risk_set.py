"""Risk-set sampling: each case meets controls that were observed at the same hour."""

import numpy as np

from deepcac.types import Ints


def match_hours(case_hours: Ints, last_hours: Ints, seed: int = 0) -> Ints:
    """Give as many controls as possible an hour, the same number for each case of that hour.

    An hour alone then tells nothing of the class: its share of cases is the same everywhere.
    `last_hours`, of shape (controls,), are the last at which each may be taken, negative if at
    none. Controls that are left out get -1.
    """
    given = np.full(len(last_hours), -1, dtype=np.int64)
    hours, counts = np.unique(case_hours, return_counts=True)
    # Controls for an hour come from those observed so long; so count from the last hour down.
    cases_left = counts[::-1].cumsum()[::-1]
    controls_left = np.array([(last_hours >= hour).sum() for hour in hours])
    a_case = int((controls_left // cases_left).min()) if len(hours) else 0
    rng = np.random.default_rng(seed)
    for hour, count in zip(hours[::-1], counts[::-1], strict=True):
        free = np.flatnonzero((given < 0) & (last_hours >= hour))
        given[rng.choice(free, a_case * count, replace=False)] = hour
    return given
