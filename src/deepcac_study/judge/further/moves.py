"""A move of a model from some groups of rows to another: who is where, and what the model says."""

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logit
from sklearn.model_selection import train_test_split

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.resamples import Resample, at_most, prepared
from deepcac.types import Array, Ids
from deepcac_study.judge.further.crossed import score

log = logging.getLogger(__name__)

TRIALS, SOURCES = 6, 5  # of each learner, and draws of source rows
_CERTAIN = 1e-7  # nearer to 0 or 1 a risk has no log odds
VALIDATION_SHARE = 0.25  # of the rows that are not for the test


class Move(NamedTuple):
    """From where to where: groups to learn from (none: all others), and one to draw labels in.

    `units` are columns of 0 and 1 that tell the group in place of the file's, and the name of the
    rest. They are no predictors then.
    """

    train: Sequence[str]
    test: str
    units: Sequence[str] = ()


def grouped(
    matrix: FeatureMatrix, units: Sequence[str]
) -> tuple[FeatureMatrix, npt.NDArray[np.str_]]:
    """Return rows and the group of each; see `Move` for the units."""
    if not units:
        return matrix, np.asarray(matrix.group).astype(str)
    *indicators, rest = units
    missing = sorted(set(indicators) - set(matrix.names))
    if missing:
        raise ConfigError(f"no column {missing[0]!r} to tell the unit of a row by")
    places = [matrix.names.index(name) for name in indicators]
    group = np.select([matrix.X[:, j] == 1 for j in places], indicators, rest)
    others = [j for j in range(len(matrix.names)) if j not in places]
    names = tuple(matrix.names[j] for j in others)
    return FeatureMatrix(matrix.row_id, matrix.label, matrix.X[:, others], names), group


def moved(group: npt.NDArray[np.str_], move: Move) -> tuple[Ids, Ids]:
    """Return the positions of the source rows and of the target rows."""
    groups = set(group)
    unknown = sorted({*move.train, move.test} - groups)
    if unknown:
        raise ConfigError(f"no rows of group {unknown[0]!r}; known: {', '.join(sorted(groups))}")
    target = group == move.test
    source = np.isin(group, move.train) if move.train else ~target
    return np.flatnonzero(source), np.flatnonzero(target)


def source_odds(
    matrix: FeatureMatrix, source: Ids, target: Ids, learner: str, train_rows: int
) -> Array:
    """Return the log odds of target rows by the chosen model of each draw of source rows."""
    contender, odds = Contender(learner), []
    for seed in range(SOURCES):
        train, validation = train_test_split(
            source, test_size=VALIDATION_SHARE, random_state=seed, stratify=matrix.label[source]
        )
        train = at_most(train_rows, np.sort(train), matrix.label, seed)
        sample = prepared(matrix, (train, np.sort(validation), target), seed)
        odds.append(max(_trials(contender, sample), key=lambda trial: trial[0])[1])
        log.info("%s, source draw %d", learner, seed)
    return np.array(odds)


def _trials(contender: Contender, sample: Resample) -> Iterator[tuple[float, Array]]:
    """Yield what each trial is worth on the validation rows, and its log odds of the test rows."""
    for values in contender.trials(TRIALS):
        predict = fit_trial(contender, values, sample)
        held_out, test = (
            logit(np.clip(predict(rows)[:, 1], _CERTAIN, 1 - _CERTAIN))
            for rows in (sample.validation, sample.test)
        )
        yield score(held_out, sample.validation.y).value["log_loss"], test
