"""The trials of a contender on resamples: their hyper-parameters, scores and seconds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.judging.learners import Predict
from deepcac.judging.resamples import Resample
from deepcac.judging.spaces import Values
from deepcac.judging.trial_scores import METRICS, Scores, score_trial
from deepcac.types import Array

PARTS = VALIDATION, TEST = ("validation", "test")
SIZES = ("n_train", "n_validation", "n_test")


@dataclass(frozen=True)
class TrialRecord:
    """All trials of one contender, scored on every resample.

    Attributes
    ----------
    contender, arm, learner : str
        Id of the contender and its two parts (`deepcac.judging.contenders.Contender`).
    values : list of dict
        Hyper-parameters of each trial.
    seeds : list of int
        Of the resamples.
    sizes : list of dict
        ``n_train``, ``n_validation`` and ``n_test`` of each resample.
    scores : ndarray of shape (n_resamples, n_trials, 2, n_metrics)
        Scores on the parts of `PARTS`, by the metrics of `trial_scores.METRICS`.
    seconds : ndarray of shape (n_resamples, n_trials)
        Processor time of each trial.
    partitions : list of dict, optional
        For each resample, by the number of a trial, its scores in several random partitions: an
        array of shape (n_draws, 2, n_metrics).
    risks : list of dict, optional
        For each resample, by the number of a trial, calibration and net benefit of its test risks.
    answers : list, optional
        For each resample the table of `TrialAnswers`; it is in no file.
    about : dict
        What else a file holds: the data set, sizes, inputs and the machine.
    """

    contender: str
    arm: str
    learner: str
    values: list[Values]
    seeds: list[int]
    sizes: list[dict[str, int]]
    scores: Array
    seconds: Array
    partitions: list[dict[int, Array]] = field(default_factory=list)
    risks: list[dict[int, dict[str, Any]]] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def clustered(self) -> list[int]:
        """Numbers of the trials with two clusters or more."""
        return [t for t, values in enumerate(self.values) if values.get("n_clusters", 1) > 1]

    @property
    def test_share(self) -> float:
        """Share of the rows of a resample that are for the test.

        It is the correlation of two resamples that the intervals assume (Nadeau and Bengio 2003,
        section 3). The other rows are those that were learnt from: to fit, to stop and to choose.
        Training rows that were left out count nowhere, which makes intervals wider.
        """
        return float(np.mean([size["n_test"] / sum(size.values()) for size in self.sizes]))

    def score(self, part: str, metric: str) -> Array:
        """Return the scores of one part by one metric, shape (n_resamples, n_trials)."""
        return self.scores[:, :, PARTS.index(part), METRICS.index(metric)]

    def select(self, trials: Sequence[int]) -> "TrialRecord":
        """Return a record of some of the trials."""
        kept = list(trials)
        return replace(
            self,
            values=[self.values[t] for t in kept],
            scores=self.scores[:, kept],
            seconds=self.seconds[:, kept],
        )


def join_resamples(records: Sequence[TrialRecord]) -> TrialRecord:
    """Return one record of a contender from those of its resamples."""
    return replace(
        records[0],
        seeds=[seed for record in records for seed in record.seeds],
        sizes=[size for record in records for size in record.sizes],
        scores=np.concatenate([record.scores for record in records]),
        seconds=np.concatenate([record.seconds for record in records]),
        partitions=[draws for record in records for draws in record.partitions],
        risks=[risks for record in records for risks in record.risks],
        answers=[answers for record in records for answers in record.answers],
    )


def stored_answers(sample: Resample, predict: Predict) -> list[npt.NDArray[np.float32]]:
    """Return what a model answers for the validation and the test rows, as it is stored."""
    return [np.asarray(predict(rows), np.float32) for rows in (sample.validation, sample.test)]


def score_answers(sample: Resample, answers: Sequence[npt.NDArray[np.float32]]) -> Array:
    """Return the scores of stored answers, shape (2, n_metrics); they can be taken again."""
    validation, test = (answer.astype(np.float64) for answer in answers)
    rows = sample.validation, sample.test
    weights = rows[0].weight, rows[1].weight
    return score_array(score_trial(rows[0].y, rows[1].y, validation, test, weights))


def score_array(scores: Scores) -> Array:
    """Return the scores of a trial as an array of shape (2, n_metrics)."""
    return np.array([[scores[part][metric] for metric in METRICS] for part in PARTS])


def score_names(scores: Array) -> Scores:
    """Return an array of shape (2, n_metrics) as a dict of dicts, by part and metric."""
    return {
        part: dict(zip(METRICS, row, strict=True))
        for part, row in zip(PARTS, scores.tolist(), strict=True)
    }


def to_content(record: TrialRecord) -> dict[str, Any]:
    """Return what a JSON file holds of a record."""
    return {
        **record.about,
        "contender": record.contender,
        "arm": record.arm,
        "learner": record.learner,
        "trials": record.values,
        "resamples": list(_entries(record)),
    }


def _entries(record: TrialRecord) -> Iterator[dict[str, Any]]:
    for j, seed in enumerate(record.seeds):
        entry: dict[str, Any] = {"seed": seed, **record.sizes[j]}
        entry["trials"] = [
            {**score_names(scores), "seconds": seconds}
            for scores, seconds in zip(record.scores[j], record.seconds[j].tolist(), strict=True)
        ]
        if record.partitions:
            entry["partitions"] = {
                str(t): [score_names(draw) for draw in draws]
                for t, draws in record.partitions[j].items()
            }
        if record.risks:
            entry["risks"] = {str(t): risks for t, risks in record.risks[j].items()}
        yield entry


_HEAD = {"contender", "arm", "learner", "trials", "resamples"}


def from_content(content: Mapping[str, Any]) -> TrialRecord:
    """Return the record that a JSON file holds.

    Raises
    ------
    DataError
        A part is missing, or the resamples have other trials than the record.
    """
    try:
        names = {name: content[name] for name in ("contender", "arm", "learner")}
        if not all(isinstance(name, str) for name in names.values()):
            raise ValueError("a name that is no text")
        samples, values = content["resamples"], content["trials"]
        scores = [[score_array(trial) for trial in sample["trials"]] for sample in samples]
        seconds = [[trial["seconds"] for trial in sample["trials"]] for sample in samples]
        shape = (len(samples), len(values), len(PARTS), len(METRICS))
        return TrialRecord(
            **names,
            values=values,
            seeds=[sample["seed"] for sample in samples],
            sizes=[{name: sample[name] for name in SIZES} for sample in samples],
            scores=np.array(scores, dtype=np.float64).reshape(shape),
            seconds=np.array(seconds, dtype=np.float64).reshape(shape[:2]),
            partitions=[_partitions(sample) for sample in samples if "partitions" in sample],
            risks=[_by_trial(sample["risks"]) for sample in samples if "risks" in sample],
            about={name: value for name, value in content.items() if name not in _HEAD},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"not a record of trials ({error!r}); run it again") from None


def _partitions(sample: Mapping[str, Any]) -> dict[int, Array]:
    draws = _by_trial(sample["partitions"])
    return {t: np.array([score_array(draw) for draw in scores]) for t, scores in draws.items()}


def _by_trial(entries: Mapping[str, Any]) -> dict[int, Any]:
    return {int(t): entry for t, entry in entries.items()}
