"""Generated hospitals between which subtypes shift: what recalibration by cluster must find."""

import os
import time
from dataclasses import replace

import numpy as np
from scipy.special import expit

from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json
from deepcac_study.judge.further.further_files import LEARNERS
from deepcac_study.judge.further.transfer import target_rows, transferred
from deepcac_study.records.record import machine
from deepcac_study.records.written_scores import as_written
from deepcac_study.simulate.planted import APART, COMMON, COMMON_WEIGHT, INTERCEPT, planted


def run_planted_transfer(
    path: str | os.PathLike[str], *, shift: float, rows: int, train_rows: int
) -> None:
    """Move logistic regression between generated hospitals, one a shift of the subtypes.

    The JSON has ``shift``, ``n_source``, ``n_target``, ``events`` and ``learners``. The shift is of
    the log odds, in the target alone: plus this in one subtype, minus this in the other. Source and
    target have `rows` each.
    """
    begin = time.perf_counter()
    matrix = shifted(shift, rows)
    both = np.arange(2 * rows)
    target = target_rows(matrix, both[:rows], both[rows:], LEARNERS[:1], train_rows)
    sizes = {"n_source": rows, "n_target": rows, "events": int(target.y.sum())}
    content = {"synthetic": True, "shift": shift, **sizes, "learners": transferred(target)}
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**as_written(content), "machine": machine(seconds, 1, "cpu")})


def shifted(shift: float, rows: int, seed: int = 0) -> FeatureMatrix:
    """Draw the planted cohort of no reversed risks, twice `rows`; outcomes of the second half move.

    See `run_planted_transfer`.
    """
    matrix, subtype = planted(0.0, 2 * rows, seed)
    risk = INTERCEPT + COMMON_WEIGHT * matrix.X[:, APART : APART + COMMON].sum(axis=1)
    risk += np.where(np.arange(2 * rows) < rows, 0.0, shift * (2.0 * subtype - 1.0))
    chance = np.random.default_rng([seed, 36]).random(2 * rows)
    return replace(matrix, label=(chance < expit(risk)).astype(np.int64))
