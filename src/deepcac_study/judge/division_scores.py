"""All contenders of one published division: their scores, and differences of them."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.metrics import precision_recall_curve

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_json
from deepcac.judging.choice import TUNED, choose, open_to
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.spaces import of_kind
from deepcac.judging.trial_answers import TEST, VALIDATION, TrialAnswers
from deepcac.scoring.bootstrap import SplitScores, interval, poisson_weights, weighted_scores
from deepcac.scoring.statistics import holm
from deepcac.types import Array, Ids
from deepcac_study.judge.study_files import answers_path
from deepcac_study.judge.trial_files import read_trials
from deepcac_study.records.record import machine

BOOTSTRAP = 1000
EVENT = "min_se_pp"  # event 1 of the challenge of 2012: the lesser of sensitivity and precision


class MeanAnswer(NamedTuple):
    """What the chosen trials, one a draw, say of the test rows on average.

    A row is called at the mean of the validation rows' best thresholds, so no test label is used.
    """

    split: SplitScores
    chosen: list[int]


def write_division(path: str | os.PathLike[str], records: Iterable[str | os.PathLike[str]]) -> None:
    """Write what `score_division` returns of all contenders; their answers are beside the records.

    It is a record of its own, because answers do not ship.
    """
    begin = time.perf_counter()
    scored = score_division(records)
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**scored, "machine": machine(seconds, 1, "cpu")})


def score_division(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Score all contenders of one division, each by the mean answer of its chosen trials.

    An arm may choose any trial of its learner alone as well (`choice.open_to`). The paths are
    records of `public_protocols.run_division`. Contenders that were tested on different rows are a
    `DataError`.

    Keys: ``dataset``, ``synthetic``, ``train``, ``test``; ``contenders``: of each ``contender`` and
    ``scores``, by AUROC's choice and by AUPRC's (`scored`); ``pairs``: the boosted classifier with
    subtypes less each rival, and each arm less its learner (``contender``, ``reference``,
    ``metric``, ``mean``, ``low``, ``high``, by a bootstrap of the test rows, both on the same ones,
    95 %).
    """
    files = {Path(path).stem: Path(path) for path in paths}
    records = {name: read_trials(path) for name, path in files.items()}
    answers = {name: TrialAnswers(read_table(answers_path(path))) for name, path in files.items()}
    mean_answers = {
        (name, metric): mean_answer(open_to(records, name), opened(records, answers, name), metric)
        for name in files
        for metric in METRICS
    }
    rows = [answer.split.rows for answer in mean_answers.values()]
    for name, row_ids in zip(mean_answers, rows, strict=True):
        if not np.array_equal(row_ids, rows[0]):
            raise DataError(f"{files[name[0]]}: tested on other rows than the rest; run all again")
    first = next(iter(records.values()))
    contenders = [
        {"contender": name, "scores": {m: scored(mean_answers[name, m]) for m in METRICS}}
        for name in files
    ]
    about = {key: first[key] for key in ("dataset", "synthetic", "train", "test")}
    pairs = [
        {"contender": name, "reference": rival, "metric": metric}
        | _difference(mean_answers[name, metric].split, mean_answers[rival, metric].split, metric)
        for name, rival in _compared({name: record["learner"] for name, record in records.items()})
        for metric in METRICS
    ]
    return {**about, "contenders": contenders, "pairs": pairs}


def opened(
    records: Mapping[str, dict[str, Any]], answers: Mapping[str, TrialAnswers], name: str
) -> TrialAnswers:
    """Return a contender's answers, and beside an arm's those of its learner alone.

    Trials are numbered as in `choice.open_to`. If both are of different rows, it is a `DataError`.
    """
    learner, trials = records[name]["learner"], answers[name]
    if learner == name or learner not in answers:
        return trials
    if not trials.same_rows(answers[learner]):
        raise DataError(f"{name} and {learner}: answers to different rows; run both again")
    return trials.followed_by(answers[learner], len(records[name]["trials"]))


def mean_answer(record: dict[str, Any], answers: TrialAnswers, metric: str) -> MeanAnswer:
    """Return the mean answer of the trials that a metric chose, from a record and its answers."""
    chosen = choose(record, TUNED, metric).trials
    risks, thresholds = [], []
    for sample, trial in zip(record["resamples"], chosen, strict=True):
        validation, test = (answers.part(part, sample["seed"]) for part in (VALIDATION, TEST))
        thresholds.append(event_threshold(validation.label, validation.risk(trial)))
        risks.append(test.risk(trial))
    risk = np.mean(risks, axis=0)
    called = (risk >= np.mean(thresholds)).astype(np.int64)
    return MeanAnswer(SplitScores(test.row_id, test.label, called, risk), chosen)


def scored(answer: MeanAnswer) -> dict[str, Any]:
    """Score a mean answer.

    Keys: ``chosen`` trials; ``n_test``, ``events``; ``auroc``, ``auprc`` and ``min_se_pp``, each
    ``[value, low, high]`` with a bootstrap interval over the test rows (95 %).
    """
    split, label = answer.split, answer.split.label
    value, drawn = (
        dict(weighted_scores(split, weights)) | {EVENT: event_one(label, split.predicted, weights)}
        for weights in _weightings(len(label))
    )
    shown = {name: [float(value[name][0]), *interval(drawn[name])] for name in (*METRICS, EVENT)}
    sizes = {"n_test": len(label), "events": int(label.sum())}
    return {"chosen": answer.chosen, **sizes, **shown}


def event_threshold(label: Ids, risk: Array) -> float:
    """Return the threshold with the highest min(sensitivity, precision)."""
    precision, recall, thresholds = precision_recall_curve(label == 1, risk)
    return float(thresholds[np.minimum(precision, recall)[:-1].argmax()])


def event_one(label: Ids, called: Ids, weights: npt.NDArray[np.uint8]) -> Array:
    """Return min(sensitivity, precision) of called rows under weightings (n, r), shape (r,)."""
    rows = weights.astype(np.float64)
    hit = (label * called) @ rows
    return hit / np.maximum(np.maximum(label @ rows, called @ rows), 1.0)


def _compared(learners: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return who is compared with whom, given each contender's learner."""
    ours = of_kind("subtypes")[-1]
    yield from ((ours, name) for name in learners if ours in learners and name != ours)
    for name, learner in learners.items():
        if name != learner and learner in learners:
            yield name, learner


def _difference(split: SplitScores, other: SplitScores, metric: str) -> dict[str, float]:
    mean, drawn = (
        weighted_scores(split, rows)[metric] - weighted_scores(other, rows)[metric]
        for rows in _weightings(len(split.rows))
    )
    low, high = interval(drawn)
    return {"mean": float(mean[0]), "low": low, "high": high}


def decide_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Test the differences of published divisions, from ``pairs`` of `score_division`.

    Added are ``p`` of no difference (normal, from the width of the interval) and ``p_holm``,
    adjusted by metric over the arms less their learners, and over the rest. A model less itself,
    where no draw chose clusters, is no comparison: it has no interval, no p, and no family.
    """
    itself = (pairs["mean"] == 0) & ~(pairs["high"] > pairs["low"])
    compared = pairs[~itself]
    error = (compared["high"] - compared["low"]) / (2 * stats.norm.ppf(0.975))
    p = pd.Series(2 * stats.norm.sf(compared["mean"].abs() / error), index=compared.index)
    ours = compared["contender"] == of_kind("subtypes")[-1]
    adjusted = p.groupby([ours, compared["metric"]]).transform(lambda group: holm(group.to_numpy()))
    ends = pairs[["low", "high"]].mask(itself)
    return pairs.assign(low=ends["low"], high=ends["high"], p=p, p_holm=adjusted)


def _weightings(n: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return every row once, and the weights of the bootstrap, the same for all contenders."""
    return np.ones((n, 1), np.uint8), poisson_weights(n, BOOTSTRAP)
