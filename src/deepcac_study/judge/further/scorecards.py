"""Several short scorecards, one per cluster, against one long one with as many items in all."""

import logging
import os
import time
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from deepcac.files.storage import write_json
from deepcac.judging.contenders import CAC, CELLS, HASH, KM
from deepcac.judging.fitting import in_parts
from deepcac.judging.learners import Predict
from deepcac.judging.partitions import part
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.trials import Effort, study_resamples
from deepcac.types import Array
from deepcac_study.judge.further.sparse_card import KINDS, card
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.records.record import file_digest, machine
from deepcac_study.records.written_scores import as_written
from deepcac_study.simulate.planted import planted

log = logging.getLogger(__name__)

ONE = "one"
ARMS = (KM, CAC, CELLS, HASH)
SIZES, CARDS = (6, 12, 24), (2, 3)
PLANTED_SIZES = (6, 12)  # of eight columns
ALPHAS = (0.03, 0.3)
METRICS = ("auroc", "auprc", "log_loss")  # more is better: the last has a minus


class Trial(NamedTuple):
    """One way to make k cards; `arm` is `ONE`, or what parts the rows.

    `size` counts the items of all cards together; `kind` is that of the items, alpha that of CAC.
    """

    arm: str
    k: int
    size: int
    kind: str
    alpha: float = 0.0


def trials(sizes: Iterable[int]) -> Iterator[Trial]:
    """Yield every way to make cards of these sizes."""
    for size, kind in product(sizes, KINDS):
        yield Trial(ONE, 1, size, kind)
        for arm, k in product(ARMS, CARDS):
            for alpha in ALPHAS if arm == CAC else (0.0,):
                yield Trial(arm, k, size, kind, alpha)


def run_scorecards(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    effort: Effort,
    synthetic: bool = False,
    grouped: bool = False,
) -> None:
    """Judge scorecards on a feature file of two classes, and write the record.

    The JSON has ``dataset`` and ``resamples`` (`judged`). `grouped`: rows of one group, those of a
    patient, stay in one part of a resample.
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    samples = study_resamples(matrix, effort, matrix.group if grouped else None)
    body = {
        "dataset": dataset,
        "synthetic": synthetic,
        "resamples": [judged(sample, SIZES) for sample in samples],
        "inputs": {"features": file_digest(features)},
    }
    seconds = {"total": time.perf_counter() - begin}
    write_json(record, {**as_written(body), "machine": machine(seconds, 1, "cpu")})


def run_planted_scorecards(
    path: str | os.PathLike[str], *, strength: float, cohorts: int, rows: int, effort: Effort
) -> None:
    """Judge scorecards on planted cohorts of one strength (`deepcac_study.simulate.planted`).

    The JSON has ``strength``, ``rows`` and ``cohorts``, a list of ``resamples`` each.
    """
    begin = time.perf_counter()
    cohort_cards = []
    for seed in range(cohorts):
        samples = study_resamples(planted(strength, rows, seed)[0], effort)
        cohort_cards.append([judged(sample, PLANTED_SIZES) for sample in samples])
    about = {"synthetic": True, "strength": strength, "rows": rows, "cohorts": cohort_cards}
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**as_written(about), "machine": machine(seconds, 1, "cpu")})


def judged(sample: Resample, sizes: Iterable[int]) -> dict[str, Any]:
    """Make all cards on one resample.

    Keys: ``seed``, ``n_train``, ``n_validation``, ``n_test``, and ``cards``, a row a size, arm and
    k. Its validation and test score by each of `METRICS` are of the trial with the best validation
    score by it.
    """
    best: dict[tuple[int, str, int], dict[str, list[float]]] = {}
    for trial in trials(sizes):
        predict = fit(trial, sample)
        held_out, test = (scored(rows, predict) for rows in (sample.validation, sample.test))
        best_scores = best.setdefault((trial.size, trial.arm, trial.k), {})
        for name in METRICS:
            if name not in best_scores or held_out[name] > best_scores[name][0]:
                best_scores[name] = [held_out[name], test[name]]
    log.info("resample %d", sample.seed)
    return {
        "seed": sample.seed,
        "n_train": len(sample.train),
        "n_validation": len(sample.validation),
        "n_test": len(sample.test),
        "cards": [
            {"size": size, "arm": arm, "k": k, **entry} for (size, arm, k), entry in best.items()
        ],
    }


def fit(trial: Trial, sample: Resample) -> Predict:
    """Fit the cards of a trial."""
    values = {
        "kind": trial.kind,
        "items": trial.size // trial.k,
        "longest": max(SIZES) // trial.k,
    }
    if trial.arm == ONE:
        return card(values, sample.train, sample.validation, sample)
    partition = part(sample, trial.arm, trial.k, trial.alpha)
    return in_parts(card, values, sample, partition, int(partition.train.max()) + 1)


def scored(rows: Rows, predict: Predict) -> dict[str, float]:
    """Score a model on rows by `METRICS`."""
    risk: Array = predict(rows)[:, 1]
    certain = np.clip(np.where(rows.y == 1, risk, 1 - risk), 1e-7, 1)
    values = (
        roc_auc_score(rows.y, risk),
        average_precision_score(rows.y, risk),
        np.log(certain).mean(),
    )
    return {name: round(float(value), 7) for name, value in zip(METRICS, values, strict=True)}
