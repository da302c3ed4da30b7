"""Labels of training rows alone, survival and length of stay: whether clusters of them help."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_json
from deepcac.judging.contenders import CELLS, KM
from deepcac.judging.fitting import in_parts, learner_fit
from deepcac.judging.learners import Predict
from deepcac.judging.partitions import part
from deepcac.judging.resamples import Resample
from deepcac.judging.spaces import Values, trials
from deepcac.judging.trial_scores import score_trial
from deepcac.judging.trials import Effort, study_resamples
from deepcac.types import Array, Ids
from deepcac_study.judge.further.auxiliary_labels import (
    LabelledSample,
    memberships,
    predictions,
    rich_clusters,
)
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.records.record import file_digest, machine
from deepcac_study.records.written_scores import as_written

log = logging.getLogger(__name__)

ALONE, RICH, SOFT, STACKED = "alone", "rich", "soft", "stacked"
SHUFFLED = "shuffled_"  # before an arm whose richer labels are permuted
ARMS = (
    ALONE,
    KM,
    CELLS,
    *(prefix + arm for prefix in ("", SHUFFLED) for arm in (RICH, SOFT, STACKED)),
)
# k, and the share of the richer labels in all variance, of each trial with clusters.
CLUSTERINGS = ((2, 0.5), (3, 0.9), (5, 0.5))
METRICS = ("auroc", "auprc", "log_loss", "brier")


def run_richer_labels(
    features: str | os.PathLike[str],
    outcomes: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    learner: str,
    effort: Effort,
    synthetic: bool = False,
) -> None:
    """Judge richer labels on stays of PhysioNet 2012, and write the record.

    Features are of a data set with the label death in hospital; outcomes are a tidy table with
    ``record_id``, ``Survival`` and ``Length_of_stay`` in days. The JSON has ``dataset``,
    ``learner`` (of `deepcac_study.judge.further.further_files.LEARNERS`) and ``resamples``
    (`judged`).
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    days = days_of(outcomes, matrix.row_id)
    resamples = []
    for sample in study_resamples(matrix, effort):
        sample_days = days[np.searchsorted(matrix.row_id, sample.train.row_id)]
        resamples.append(judged(sample, learner, richer(sample_days)))
        log.info("resample %d", sample.seed)
    inputs = {"features": file_digest(features), "outcomes": file_digest(outcomes)}
    about = {"dataset": dataset, "learner": learner, "synthetic": synthetic}
    about |= {"resamples": resamples, "inputs": inputs}
    seconds = {"total": time.perf_counter() - begin}
    write_json(record, {**as_written(about), "machine": machine(seconds, 1, "cpu")})


def days_of(outcomes: str | os.PathLike[str], row_id: Ids) -> Array:
    """Return survival and length of stay of rows in days, shape (n, 2), NaN where not recorded."""
    table = read_table(outcomes)
    record_ids = table["record_id"].to_numpy()
    order = np.argsort(record_ids)
    place = order[np.searchsorted(record_ids, row_id, sorter=order).clip(max=len(record_ids) - 1)]
    if not np.array_equal(record_ids[place], row_id) or (np.diff(row_id) <= 0).any():
        raise DataError(f"{outcomes}: not the outcomes of these rows, in order; extract them again")
    columns = [table[name].to_numpy()[place] for name in ("Survival", "Length_of_stay")]
    days = np.column_stack(columns).astype(np.float64)
    return np.where(days < 0, np.nan, days)  # -1 is the code; one survival of -23 is a slip


def richer(days: Array) -> Array:
    """Return the richer labels of training rows, standardised: logarithms of both times.

    Without a recorded death survival is the longest that was seen; an unknown stay is the median.
    """
    values = np.log1p(days)
    fill = np.nanmax(values[:, 0]), np.nanmedian(values[:, 1])
    values = np.where(np.isnan(values), fill, values)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def judged(sample: Resample, learner: str, labels: Array) -> dict[str, Any]:
    """Fit all contenders of a learner on one resample, with `labels` (n, 2) of its training rows.

    Keys: ``seed``, ``n_train``, ``n_validation``, ``n_test``, and ``contenders``, a row an arm. Its
    validation and test score by each of `METRICS` are of the trial with the best validation score
    by it.
    """
    rng = np.random.default_rng([sample.seed, 36])
    labelled = {
        "": LabelledSample(sample, labels),
        SHUFFLED: LabelledSample(sample, shuffled(labels, sample.train.y, rng)),
    }
    rows = [{"arm": arm} | _best(fits(arm, learner, labelled), sample) for arm in ARMS]
    return {
        "seed": sample.seed,
        "n_train": len(sample.train),
        "n_validation": len(sample.validation),
        "n_test": len(sample.test),
        "contenders": rows,
    }


def shuffled(labels: Array, y: Ids, rng: np.random.Generator) -> Array:
    """Permute rows of labels among rows of the same outcome."""
    permuted = np.empty_like(labels)
    for outcome in np.unique(y):
        rows = np.flatnonzero(y == outcome)
        permuted[rows] = labels[rng.permutation(rows)]
    return permuted


def fits(
    arm: str, learner: str, labelled: Mapping[str, LabelledSample]
) -> Iterator[Callable[[], Predict]]:
    """Yield what fits each trial of a contender."""
    source = labelled[SHUFFLED if arm.startswith(SHUFFLED) else ""]
    for number, values in enumerate(trials(learner, len(CLUSTERINGS))):
        yield partial(_fitted, arm.removeprefix(SHUFFLED), learner, values, number, source)


def _fitted(
    arm: str, learner: str, values: Values, number: int, labelled: LabelledSample
) -> Predict:
    (fit, settings), sample = learner_fit(learner, values), labelled.sample
    k, share = CLUSTERINGS[number]
    if arm == ALONE:
        return fit(settings, sample.train, sample.validation, sample)
    if arm in (KM, CELLS, RICH):
        partition = rich_clusters(labelled, k, share) if arm == RICH else part(sample, arm, k, 0.0)
        return in_parts(fit, settings, sample, partition, int(partition.train.max()) + 1)
    more = memberships(labelled, k, share) if arm == SOFT else predictions(labelled, learner)
    validation = sample.validation.beside(more.of(sample.validation))
    answer = fit(settings, sample.train.beside(more.train), validation, sample)
    return lambda rows: answer(rows.beside(more.of(rows)))


def _best(fits: Iterator[Callable[[], Predict]], sample: Resample) -> dict[str, list[float]]:
    best: dict[str, list[float]] = {}
    validation, test = sample.validation, sample.test
    for fit in fits:
        predict = fit()
        scored = score_trial(validation.y, test.y, predict(validation), predict(test))
        for name in METRICS:
            held_out = scored["validation"][name]
            if name not in best or held_out > best[name][0]:
                best[name] = [held_out, scored["test"][name]]
    return best
