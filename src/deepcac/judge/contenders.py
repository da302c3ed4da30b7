"""The contenders: a learner alone, or one in each part of a partition, or with distances."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deepcac.catalogue.entries import resolve
from deepcac.errors import ConfigError
from deepcac.judge import spaces
from deepcac.judge.learners import Array, Predict
from deepcac.judge.partitions import ARMS, CAC, DISTANCES, distances, part
from deepcac.judge.resamples import Resample, Rows
from deepcac.judge.spaces import PARTITION, Values

FEWEST = 20  # training rows a part needs for a model of its own
DEEP = ("km_z", "deepcac", "dmnn", "grasp")

Fit = Callable[[Values, Rows, Rows, Resample], Predict]


@dataclass(frozen=True)
class Contender:
    """A learner and its arm.

    Attributes
    ----------
    learner : str
        A name of `spaces.yaml`.
    arm : str
        One of `partitions.ARMS`, or nothing for the learner alone.
    """

    learner: str
    arm: str = ""

    @property
    def id(self) -> str:
        """Name in paths and tables."""
        return f"{self.arm}_{self.learner}" if self.arm else self.learner

    @property
    def network(self) -> bool:
        """Whether its trials are networks, of which fewer are made."""
        return self.learner in (*DEEP, "fnn")

    def trials(self, n: int) -> list[Values]:
        """Return the values of its trials; those of an arm have the partition's as well."""
        drawn = spaces.trials(self.learner, n)
        if not self.arm:
            return drawn
        parted = spaces.trials(PARTITION, n)
        if self.arm != CAC:
            parted = [{k: v for k, v in one.items() if k != "alpha"} for one in parted]
        return [one | own for one, own in zip(drawn, parted, strict=True)]

    def fit(self, values: Values, sample: Resample) -> Predict:
        """Fit one trial on a resample; return what gives rows their class probabilities."""
        own = {name: v for name, v in values.items() if name in spaces.spaces()[self.learner]}
        fit = _learner(self.learner)
        k = values.get("n_clusters", 1)
        if not self.arm or k == 1:
            return fit(own, sample.train, sample.validation, sample)
        if self.arm == DISTANCES:
            return _with_distances(fit, own, sample, k)
        return _in_parts(fit, own, sample, self.arm, k, values.get("alpha", 0.0))


@cache
def _learner(name: str) -> Fit:
    module = "deep_learners" if name in (*DEEP, "fnn") else "learners"
    return resolve(f"judge.{module}.{name}")


def parse_contender(name: str) -> Contender:
    """Return the contender of an id such as ``lgbm`` or ``cac_lr``."""
    known = set(spaces.spaces()) - {PARTITION}
    if name in known:
        return Contender(name)
    arm, _, learner = name.partition("_")
    if arm in ARMS and learner in known - set(DEEP):
        return Contender(learner, arm)
    raise ConfigError(
        f"no contender {name!r}; use a learner ({', '.join(sorted(known))}), or an arm "
        f"({', '.join(ARMS)}) and a learner, as in cac_lr"
    )


def _with_distances(fit: Fit, values: Values, sample: Resample, k: int) -> Predict:
    """Fit with the distances to the k-means centres as further features."""
    measure = distances(sample, k)
    train, validation = (
        rows.beside(measure(rows)) for rows in (sample.train, sample.validation)
    )
    answer = fit(values, train, validation, sample)
    return lambda rows: answer(rows.beside(measure(rows)))


def _in_parts(
    fit: Fit, values: Values, sample: Resample, arm: str, k: int, alpha: float
) -> Predict:
    """Fit one model in each part."""
    found = part(sample, arm, k, alpha)
    own = found.assign(sample.validation)
    models = [
        _local(fit, values, sample, np.flatnonzero(found.train == j), np.flatnonzero(own == j))
        for j in range(int(found.train.max()) + 1)
    ]

    def predict(rows: Rows) -> Array:
        place = found.assign(rows)
        scores = np.empty((len(rows), sample.n_classes))
        for j, model in enumerate(models):
            here = np.flatnonzero(place == j)
            if len(here):
                scores[here] = model(rows.take(here))
        return scores

    return predict


def _local(fit: Fit, values: Values, sample: Resample, train: Any, validation: Any) -> Predict:
    """Fit the model of one part; the smoothed class shares where a model cannot be had.

    A part without validation rows of two classes is stopped by all of them.
    """
    rows = sample.train.take(train)
    counts = np.bincount(rows.y, minlength=sample.n_classes)
    if len(rows) < FEWEST or np.count_nonzero(counts) < sample.n_classes or counts.min() < 2:
        overall = np.bincount(sample.train.y, minlength=sample.n_classes) / len(sample.train)
        share = (counts + overall) / (len(rows) + 1)
        return lambda rows: np.tile(share, (len(rows), 1))
    held_out = sample.validation.take(validation)
    if len(np.unique(held_out.y)) < sample.n_classes:
        held_out = sample.validation
    return fit(values, rows, held_out, sample)
