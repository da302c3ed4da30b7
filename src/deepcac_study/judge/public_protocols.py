"""Divisions of the rows that others published results on: one fixed test part."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import Contender
from deepcac.judging.resamples import Resample, prepared
from deepcac.judging.trials import Effort, judge_samples
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.trial_files import write_trials

VALIDATION_SHARE = 0.25  # of the rows that are not for the test


class PublishedDivision(NamedTuple):
    """A published division: groups of rows to learn from, and the one to be tested on, once."""

    train: Sequence[str]
    test: str


def divided(features: FeatureMatrix, division: PublishedDivision, n: int) -> Iterator[Resample]:
    """Yield `n` draws of training and validation rows beside the one test part; draw i has seed i.

    A group that the rows do not have is a `ConfigError`.
    """
    group = np.asarray(features.group).astype(str)
    groups = set(group)
    unknown = sorted({*division.train, division.test} - groups)
    if unknown:
        raise ConfigError(f"no rows of group {unknown[0]!r}; known: {', '.join(sorted(groups))}")
    pool, test = np.flatnonzero(np.isin(group, division.train)), group == division.test
    for seed in range(n):
        train, validation = train_test_split(
            pool, test_size=VALIDATION_SHARE, random_state=seed, stratify=features.label[pool]
        )
        parts = np.sort(train), np.sort(validation), np.flatnonzero(test)
        yield prepared(features, parts, seed)


def run_division(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    contender: Contender,
    division: PublishedDivision,
    *,
    dataset: str,
    draws: int,
    effort: Effort,
    synthetic: bool = False,
) -> None:
    """Run all trials of a contender on a division (`division_scores` scores the chosen ones).

    The probabilities of every trial go beside the JSON record. Training and validation rows are
    drawn `draws` times.
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    body, answers = judge_samples(divided(matrix, division, draws), [contender], effort)[0]
    written = {
        "dataset": dataset,
        "synthetic": synthetic,
        "train": list(division.train),
        "test": division.test,
        "n_features": len(matrix.names),
        **body,
    }
    write_trials(record, written, answers, features, time.perf_counter() - begin)
