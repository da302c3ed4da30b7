"""All trials of contenders on resamples: scores, and what each trial answers."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import CELLS, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.learners import Predict
from deepcac.judging.random_partitions import score_draws
from deepcac.judging.resamples import Resample, Rows, resamples
from deepcac.judging.trial_answers import TrialAnswers
from deepcac.judging.trial_scores import score_trial

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

    def trials_of(self, contender: Contender) -> int:
        """Return how many trials a contender is given."""
        return self.network_trials if contender.network else self.trials

    def values_of(self, contender: Contender) -> list[dict[str, Any]]:
        """Return the values of the trials of a contender."""
        n = self.trials_of(contender)
        return contender.grid_trials(n) if self.grid else contender.trials(n)


def judge_rows(
    matrix: FeatureMatrix,
    contender: Contender,
    effort: Effort,
    unit: npt.NDArray[Any] | None = None,
) -> tuple[dict[str, Any], pa.Table]:
    """Run all trials of a contender on rows in memory; see `resamples` for the unit.

    The record has ``contender``, ``arm``, ``learner``, ``trials`` (their values) and ``resamples``,
    each with ``seed``, the sizes of its parts, and ``trials`` (the scores of each). The table has
    the probabilities of every validation and test row (`TrialAnswers`).
    """
    return judge_samples(study_resamples(matrix, effort, unit), [contender], effort)[0]


def study_resamples(
    matrix: FeatureMatrix, effort: Effort, unit: npt.NDArray[Any] | None = None
) -> Iterator[Resample]:
    """Yield the study's resamples of a data set: more of a small one."""
    small = len(matrix.label) < effort.small_rows
    n = effort.resamples_small if small else effort.resamples
    return resamples(matrix, n, effort.train_rows, unit=unit)


def judge_samples(
    samples: Iterable[Resample], contenders: Iterable[Contender], effort: Effort
) -> list[tuple[dict[str, Any], pa.Table]]:
    """Run the trials of contenders on resamples; return what `judge_rows` does for each."""
    trials = {contender: effort.values_of(contender) for contender in contenders}
    entries: dict[Contender, list[dict[str, Any]]] = {contender: [] for contender in trials}
    tables: dict[Contender, list[pa.Table]] = {contender: [] for contender in trials}
    for sample in samples:
        for contender, drawn in trials.items():
            entry, table = run_resample(sample, contender, drawn)
            if contender.arm == CELLS and effort.partitions > 1:
                entry["partitions"] = score_draws(
                    sample, contender, drawn, entry["trials"], effort.partitions
                )
            entries[contender].append(entry)
            tables[contender].append(table)
            best = max(trial["validation"]["auroc"] for trial in entry["trials"])
            log.info("%s resample %d: validation AUROC %.3f", contender.id, sample.seed, best)
    return [
        (
            {
                "contender": contender.id,
                "arm": contender.arm,
                "learner": contender.learner,
                "trials": drawn,
                "resamples": entries[contender],
            },
            pa.concat_tables(tables[contender]),
        )
        for contender, drawn in trials.items()
    ]


def run_resample(
    sample: Resample,
    contender: Contender,
    trials: list[dict[str, Any]],
    fit: Callable[[Contender, dict[str, Any], Resample], Predict] = fit_trial,
) -> tuple[dict[str, Any], pa.Table]:
    """Run all trials of a contender on one resample, each by `fit`.

    Returned are an entry of ``resamples`` and the rows of the table of `judge_rows`.
    """
    results = [_run_trial(sample, partial(fit, contender, values, sample)) for values in trials]
    entry = {
        "seed": sample.seed,
        "n_train": len(sample.train),
        "n_validation": len(sample.validation),
        "n_test": sample.test.counted,
        "trials": [scores for _, scores in results],
    }
    return entry, TrialAnswers.of(sample, [answers for answers, _ in results]).table


def _run_trial(
    sample: Resample, fit: Callable[[], Predict]
) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
    begin = time.process_time()
    predict = fit()
    parts: tuple[Rows, Rows] = (sample.validation, sample.test)
    # What is stored is what is scored, so that scores can be taken again from the stored answers.
    answers = [np.asarray(predict(rows), dtype=np.float32) for rows in parts]
    seconds = time.process_time() - begin
    weights = (sample.validation.weight, sample.test.weight)
    validation, test = (answer.astype(np.float64) for answer in answers)
    scores = score_trial(sample.validation.y, sample.test.y, validation, test, weights)
    return np.concatenate(answers), {**scores, "seconds": round(seconds, 2)}
