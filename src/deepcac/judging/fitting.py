"""Fitting one trial of a contender: on all rows, in each part, or with what clusters tell."""

from collections.abc import Callable
from typing import Any

import numpy as np

from deepcac.files.declared import resolve
from deepcac.judging.contenders import BESIDE, Contender
from deepcac.judging.learners import Predict
from deepcac.judging.partitions import Partition, beside, part
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values, learners
from deepcac.types import Array, Ids

FEWEST = 20  # training rows a part needs for a model of its own

Fit = Callable[[Values, Rows, Rows, Resample], Predict]


def fit_trial(contender: Contender, values: Values, sample: Resample, turn: int = 0) -> Predict:
    """Fit one trial on a resample; return what gives rows their class probabilities.

    `turn` is the draw of a partition that is drawn at random.
    """
    fit, settings = learner_fit(contender.learner, values)
    return fit_in_arm(fit, settings, contender.arm, values, sample, turn)


def fit_in_arm(
    fit: Fit, settings: Values, arm: str, values: Values, sample: Resample, turn: int = 0
) -> Predict:
    """Fit a learner by its `settings` in the clusters of an arm, which other `values` describe."""
    k = values.get("n_clusters", 1)
    if not arm or k == 1:
        return fit(settings, sample.train, sample.validation, sample)
    if arm in BESIDE:
        return with_columns(fit, settings, sample, beside(sample, arm, k))
    partition = part(sample, arm, k, values.get("alpha", 0.0), turn)
    return in_parts(fit, settings, sample, partition, int(partition.train.max()) + 1)


def learner_fit(learner: str, values: Values) -> tuple[Fit, Values]:
    """Return what fits a learner, and those of the values that are its own."""
    entry = learners()[learner]
    fit: Fit = resolve(f"deepcac.judging.{entry.fit}")
    return fit, {name: v for name, v in values.items() if name in entry.space}


def with_columns(
    fit: Fit, values: Values, sample: Resample, measure: Callable[[Rows], Array]
) -> Predict:
    """Fit with what the clusters tell as further features."""
    train, validation = (rows.beside(measure(rows)) for rows in (sample.train, sample.validation))
    answer = fit(values, train, validation, sample)
    return lambda rows: answer(rows.beside(measure(rows)))


def in_parts(
    fit: Fit, values: Values, sample: Resample, partition: Partition, parts: int
) -> Predict:
    """Fit one model in each of `parts` parts, those without training rows too."""
    validation_parts = partition.assign(sample.validation)
    models = [
        _local(
            fit,
            values,
            sample,
            np.flatnonzero(partition.train == j),
            np.flatnonzero(validation_parts == j),
        )
        for j in range(parts)
    ]

    def predict(rows: Rows) -> Array:
        place = partition.assign(rows)
        scores = np.empty((len(rows), sample.n_classes))
        for j, model in enumerate(models):
            here = np.flatnonzero(place == j)
            if len(here):
                scores[here] = model(rows.take(here))
        return scores

    return predict


def _local(fit: Fit, values: Values, sample: Resample, train: Any, validation: Any) -> Predict:
    """Fit the model of one part; the smoothed class shares where a model cannot be had.

    Validation rows of the part's own classes stop it; all of the data set's, where those of the
    part are of one class. A class that the part lacks has its share of all training rows, which
    count as one row.
    """
    rows = sample.train.take(train)
    counts = np.bincount(rows.y, minlength=sample.n_classes)
    overall = np.bincount(sample.train.y, sample.train.weight, minlength=sample.n_classes)
    weighted_counts = np.bincount(rows.y, rows.weight, minlength=sample.n_classes)
    if len(rows) < FEWEST or np.count_nonzero(counts > 1) < 2:
        share = (weighted_counts + overall / overall.sum()) / (weighted_counts.sum() + 1)
        return lambda rows: np.tile(share, (len(rows), 1))
    held_out = _of_classes(sample.validation.take(validation), counts)
    if len(np.unique(held_out.y)) < 2:
        held_out = _of_classes(sample.validation, counts)
    answer = fit(values, rows, held_out, sample)
    if counts.all():
        return answer
    return lambda rows: (
        (weighted_counts.sum() * answer(rows) + overall / overall.sum())
        / (weighted_counts.sum() + 1)
    )


def _of_classes(rows: Rows, counts: Ids) -> Rows:
    """Return the rows of those classes that are there."""
    return rows.take(np.flatnonzero(counts[rows.y] > 0))
