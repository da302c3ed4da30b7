"""Run all trials of contenders on resamples."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import CELLS, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.learners import Predict
from deepcac.judging.random_partitions import score_draws
from deepcac.judging.resamples import Resample, resamples
from deepcac.judging.spaces import Values
from deepcac.judging.trial_answers import TrialAnswers
from deepcac.judging.trial_record import (
    VALIDATION,
    TrialRecord,
    join_resamples,
    score_answers,
    stored_answers,
)
from deepcac.types import Array

log = logging.getLogger(__name__)


class Effort(NamedTuple):
    """How much every contender is given."""

    resamples: int
    resamples_small: int  # of a data set with fewer than `small_rows` rows
    small_rows: int
    train_rows: int  # at most
    trials: int  # draws a contender
    network_trials: int  # draws a network
    partitions: int = 1  # draws of random cells, in which the chosen trials are fitted
    grid: bool = False  # clusters and alpha of an arm go through a grid in place of draws
    choose_in_each: bool = False  # fit every trial in each of the partitions, not the chosen alone

    def trials_of(self, contender: Contender) -> int:
        """Return how many trials a contender is given."""
        return self.network_trials if contender.network else self.trials

    def values_of(self, contender: Contender) -> list[Values]:
        """Return the values of the trials of a contender."""
        n = self.trials_of(contender)
        return contender.grid_trials(n) if self.grid else contender.trials(n)


def judge_rows(matrix: FeatureMatrix, contender: Contender, effort: Effort) -> TrialRecord:
    """Run all trials of a contender on rows in memory."""
    return judge_samples(study_resamples(matrix, effort), [contender], effort)[0]


def study_resamples(
    matrix: FeatureMatrix, effort: Effort, unit: npt.NDArray[Any] | None = None
) -> Iterator[Resample]:
    """Yield the study's resamples of a data set: more of a small one."""
    small = len(matrix.label) < effort.small_rows
    n = effort.resamples_small if small else effort.resamples
    return resamples(matrix, n, effort.train_rows, unit=unit)


def judge_samples(
    samples: Iterable[Resample], contenders: Iterable[Contender], effort: Effort
) -> list[TrialRecord]:
    """Run the trials of contenders on resamples; return a record of each, with its answers."""
    trials = {contender: effort.values_of(contender) for contender in contenders}
    records: dict[Contender, list[TrialRecord]] = {contender: [] for contender in trials}
    for sample in samples:
        for contender, values in trials.items():
            record = run_resample(sample, contender, values)
            if contender.arm == CELLS and effort.partitions > 1:
                draws = score_draws(
                    sample, contender, record, effort.partitions, every=effort.choose_in_each
                )
                record = replace(record, partitions=[draws])
            records[contender].append(record)
            best = record.score(VALIDATION, "auroc").max()
            log.info("%s resample %d: validation AUROC %.3f", contender.id, sample.seed, best)
    return [join_resamples(parts) for parts in records.values()]


def run_resample(
    sample: Resample,
    contender: Contender,
    values: list[Values],
    fit: Callable[[Contender, Values, Resample], Predict] = fit_trial,
) -> TrialRecord:
    """Run all trials of a contender on one resample, each by `fit`; return their record."""
    results = [_run_trial(sample, partial(fit, contender, drawn, sample)) for drawn in values]
    answers, scores, seconds = zip(*results, strict=True)
    return TrialRecord(
        contender.id,
        contender.arm,
        contender.learner,
        values,
        seeds=[sample.seed],
        sizes=[
            {
                "n_train": len(sample.train),
                "n_validation": len(sample.validation),
                "n_test": sample.test.counted,
            }
        ],
        scores=np.array([scores]),
        seconds=np.array([seconds]),
        answers=[TrialAnswers.of(sample, answers)],
    )


def _run_trial(
    sample: Resample, fit: Callable[[], Predict]
) -> tuple[npt.NDArray[np.float32], Array, float]:
    begin = time.process_time()
    answers = stored_answers(sample, fit())
    seconds = time.process_time() - begin
    return np.concatenate(answers), score_answers(sample, answers), round(seconds, 2)
