"""Calibration and net benefit of the trials chosen by log loss, stored in the trial record."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import TrialRecord
from deepcac_study.judge.tables.table_trials import BY, describe_risks


def with_risks(record: TrialRecord) -> TrialRecord:
    """Return a record with descriptions of the test risks of its trials that log loss can choose.

    The predictions do not ship; these descriptions do.
    """
    chosen = [choose(record, way, BY).trials for way in _ways(record)]
    risks = [
        {
            trial: describe_risks(test.label, test.risk(trial))
            for trial in {trials[j] for trials in chosen}
        }
        for j, answers in enumerate(record.answers)
        for test in [answers.part(TEST)]
    ]
    return replace(record, risks=risks)


def chosen_risks(
    records: Mapping[str, Mapping[str, TrialRecord]],
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield data set, contender, choice and `describe_risks` of each resample.

    An arm may choose a trial of its learner alone, whose record has the description. Records of
    more than two classes, or older ones, have no descriptions.
    """
    for dataset, by_contender in records.items():
        for name, record in by_contender.items():
            if not record.risks:
                continue
            candidates, n_trials = open_to(by_contender, name), len(record.values)
            for way in _ways(record):
                for j, trial in enumerate(choose(candidates, way, BY).trials):
                    own = trial < n_trials
                    source = record if own else by_contender[record.learner]
                    yield dataset, name, way, source.risks[j][trial if own else trial - n_trials]


def _ways(record: TrialRecord) -> tuple[str, ...]:
    """Return the models of a trial: tuned and, where there is one, clustered."""
    return (TUNED, CLUSTERED) if record.clustered else (TUNED,)
