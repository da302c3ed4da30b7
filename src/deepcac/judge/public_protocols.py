"""Divisions of the rows that others published results on: one fixed test part."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from sklearn.metrics import precision_recall_curve
from sklearn.model_selection import train_test_split

from deepcac.errors import ConfigError
from deepcac.features.matrix import FeatureMatrix
from deepcac.judge.choice import TUNED, choose
from deepcac.judge.contenders import Contender
from deepcac.judge.resamples import Resample, prepared
from deepcac.judge.study_rows import read_rows
from deepcac.judge.trials import TEST, VALIDATION, Effort, judge_samples, write_trials
from deepcac.scoring.bootstrap import SplitScores, interval, poisson_weights, weighted_scores

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

VALIDATION_SHARE = 0.25  # of the rows that are not for the test
BOOTSTRAP = 1000
EVENT = "min_se_pp"  # event 1 of the challenge of 2012: the lesser of sensitivity and precision


class Division(NamedTuple):
    """A published division.

    Attributes
    ----------
    train : sequence of str
        Groups of rows to learn from.
    test : str
        Group of rows to be tested on, once.
    """

    train: Sequence[str]
    test: str


def divided(features: FeatureMatrix, division: Division, n: int) -> Iterator[Resample]:
    """Yield `n` draws of training and validation rows beside the one test part.

    Parameters
    ----------
    features : FeatureMatrix
        With groups.
    division : Division
    n : int
        Draw i has seed i.

    Raises
    ------
    ConfigError
        The rows have no such group.
    """
    group = np.asarray(features.group).astype(str)
    known = set(group)
    unknown = sorted({*division.train, division.test} - known)
    if unknown:
        raise ConfigError(f"no rows of group {unknown[0]!r}; known: {', '.join(sorted(known))}")
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
    division: Division,
    *,
    dataset: str,
    draws: int,
    effort: Effort,
    synthetic: bool = False,
) -> None:
    """Run all trials of a contender on a division, and write what the chosen ones say.

    Parameters
    ----------
    features : path-like
        Of the data set.
    record : path-like
        JSON to write; the probabilities of every trial go beside it.
    contender : Contender
    division : Division
    dataset : str
        Data set id.
    draws : int
        Of training and validation rows.
    effort : Effort
        Its number of trials.
    synthetic : bool
        Whether the data are generated.
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    found, answers = judge_samples(divided(matrix, division, draws), [contender], effort)[0]
    written = {
        "dataset": dataset,
        "synthetic": synthetic,
        "train": list(division.train),
        "test": division.test,
        "n_features": len(matrix.names),
        **found,
        "scores": {metric: score_chosen(found, answers, metric) for metric in ("auroc", "auprc")},
    }
    write_trials(record, written, answers, features, time.perf_counter() - begin)


class MeanAnswer(NamedTuple):
    """What chosen trials, one a draw, say of the test rows on average.

    Attributes
    ----------
    split : SplitScores
        Risks; a row is called at the mean of the thresholds that were best on the validation rows,
        so no test label is used for it.
    chosen : list of int
        The trials.
    """

    split: SplitScores
    chosen: list[int]


def mean_answer(found: dict[str, Any], answers: pa.Table, metric: str) -> MeanAnswer:
    """Return the mean answer of the trials that a metric chose, from a record and its answers."""
    chosen = choose(found, TUNED, metric).trials
    table = answers.to_pandas()
    risks, thresholds = [], []
    for sample, trial in zip(found["resamples"], chosen, strict=True):
        own = table[table["seed"] == sample["seed"]]
        validation, test = (own[own["part"] == part] for part in (VALIDATION, TEST))
        thresholds.append(event_threshold(validation["label"], validation[f"t{trial}_1"]))
        risks.append(test[f"t{trial}_1"].to_numpy(np.float64))
    risk, label = np.mean(risks, axis=0), test["label"].to_numpy(np.int64)
    called = (risk >= np.mean(thresholds)).astype(np.int64)
    rows = test["row_id"].to_numpy(np.int64)
    return MeanAnswer(SplitScores(rows, label, called, risk), chosen)


def score_chosen(found: dict[str, Any], answers: pa.Table, metric: str) -> dict[str, Any]:
    """Score the mean answer of the trials that a metric chose.

    Returns
    -------
    dict
        ``chosen`` trials; ``auroc``, ``auprc`` and ``min_se_pp``, each ``[value, low, high]`` with
        a bootstrap interval over the test rows (95 %).
    """
    split, chosen = mean_answer(found, answers, metric)
    label = split.label
    value, drawn = (
        dict(weighted_scores(split, weights)) | {EVENT: event_one(label, split.predicted, weights)}
        for weights in (np.ones((len(label), 1), np.uint8), poisson_weights(len(label), BOOTSTRAP))
    )
    shown = {name: [float(value[name][0]), *interval(drawn[name])] for name in _SHOWN}
    return {"chosen": chosen, "n_test": len(label), "events": int(label.sum()), **shown}


_SHOWN = ("auroc", "auprc", EVENT)


def event_threshold(label: "pd.Series[Any]", risk: "pd.Series[Any]") -> float:
    """Return the threshold with the highest min(sensitivity, precision)."""
    precision, recall, thresholds = precision_recall_curve(label == 1, risk)
    return float(thresholds[np.minimum(precision, recall)[:-1].argmax()])


def event_one(label: Ids, called: Ids, weights: npt.NDArray[np.uint8]) -> Array:
    """Return min(sensitivity, precision) of called rows under weightings (n, r), shape (r,)."""
    rows = weights.astype(np.float64)
    hit = (label * called) @ rows
    return hit / np.maximum(np.maximum(label @ rows, called @ rows), 1.0)
