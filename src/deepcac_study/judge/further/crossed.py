"""Differences over many draws that share their test rows, with the error of both."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from deepcac.types import Array, Ids
from deepcac_study.judge.further.recalibrating import log_loss

METRICS = ("log_loss", "brier", "auroc")  # more is better: the first two have a minus


class Scored(NamedTuple):
    """What some log odds are worth on test rows, by each of `METRICS`.

    `rows` has what each row contributes, shape (n,); of ``auroc`` the components of DeLong et al.
    (1988).
    """

    value: dict[str, float]
    rows: dict[str, Array]


def score(odds: Array, y: Ids) -> Scored:
    """Score log odds by rows."""
    risk = 1 / (1 + np.exp(-odds))
    rows = {"log_loss": -log_loss(odds, y), "brier": -((risk - y) ** 2), "auroc": _placed(odds, y)}
    value = {name: float(row_scores.mean()) for name, row_scores in rows.items()}
    return Scored(value | {"auroc": float(rows["auroc"][y == 1].mean())}, rows)


def _placed(odds: Array, y: Ids) -> Array:
    """Return of each row the share of rows of the other class that it is on the right side of."""
    placed = np.empty(len(y))
    events, others = np.sort(odds[y == 1]), np.sort(odds[y == 0])
    for members, rivals in ((y == 1, others), (y == 0, events)):
        below = sum(np.searchsorted(rivals, odds[members], side) for side in ("left", "right"))
        placed[members] = below / (2 * len(rivals))
    placed[y == 0] = 1 - placed[y == 0]
    return placed


class Crossed:
    """A comparison's differences, draw by draw; `y` labels all rows that may be in a test part.

    The error of their mean counts both what another draw of labels and what other test rows would
    change: the variance between rows of what they contribute on average, and that between draws.
    The sum of the two is conservative where rows and draws are crossed (Owen 2007).
    """

    def __init__(self, y: Ids) -> None:
        self._y = y
        self._tested = np.zeros(len(y))
        self._rows = {name: np.zeros(len(y)) for name in METRICS}
        self._draws: dict[str, list[float]] = {name: [] for name in METRICS}

    def add(self, test: Ids, ours: Scored, theirs: Scored) -> None:
        """Add a draw: positions of its test rows, and what both sides are worth on them."""
        self._tested[test] += 1
        for name in METRICS:
            self._rows[name][test] += ours.rows[name] - theirs.rows[name]
            self._draws[name].append(ours.value[name] - theirs.value[name])

    @property
    def draws(self) -> int:
        """How many were added."""
        return len(self._draws[METRICS[0]])

    def estimates(self) -> Mapping[str, tuple[float, float, float]]:
        """Return the mean, its error by rows and its error by draws, of each metric."""
        seen = self._tested > 0
        y = self._y[seen]
        classes = {"auroc": [y == 1, y == 0]}
        estimates = {}
        for name in METRICS:
            mean = self._rows[name][seen] / self._tested[seen]
            parts = [mean[part] for part in classes.get(name, [np.ones(len(y), dtype=bool)])]
            by_rows = sum(part.var(ddof=1) / len(part) for part in parts)
            draws = np.array(self._draws[name])
            by_draws = draws.var(ddof=1) / len(draws)
            estimates[name] = (
                float(draws.mean()),
                float(np.sqrt(by_rows)),
                float(np.sqrt(by_draws)),
            )
        return estimates
