"""Calibration and net benefit of the trials that log loss chose, kept in the record of trials."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.trial_answers import TEST, TrialAnswers
from deepcac_study.judge.tables.table_trials import BY, describe

Record = dict[str, Any]


def add_risks(record: Record, answers: pa.Table) -> None:
    """Describe the test risks of a record's own trials that can be chosen, in each resample.

    Each resample gets ``risks``, by the number of the trial. Answers do not ship; these do.
    """
    for number, sample in enumerate(record["resamples"]):
        test = TrialAnswers(answers).part(TEST, sample["seed"])
        sample["risks"] = {
            str(trial): describe(test.label, test.risk(trial))
            for trial in {choose(record, way, BY).trials[number] for way in _ways(record)}
        }


def chosen_risks(
    records: Mapping[str, Mapping[str, Record]],
) -> Iterator[tuple[str, str, str, Record]]:
    """Yield data set, contender, choice and what `describe` says, a resample each.

    An arm may choose a trial of its learner alone, whose record describes it. Records of more than
    two classes, or older ones, say nothing.
    """
    for dataset, by_contender in records.items():
        for name, record in by_contender.items():
            if "risks" not in record["resamples"][0]:
                continue
            candidates, n_trials = open_to(by_contender, name), len(record["trials"])
            for way in _ways(record):
                for number, trial in enumerate(choose(candidates, way, BY).trials):
                    learner = by_contender[record["learner"]] if trial >= n_trials else record
                    risks = learner["resamples"][number]["risks"]
                    yield dataset, name, way, risks[str(trial - n_trials * (trial >= n_trials))]


def _ways(record: Record) -> tuple[str, ...]:
    parted = any(values.get("n_clusters", 1) > 1 for values in record["trials"])
    return (TUNED, CLUSTERED) if parted else (TUNED,)
