"""Which trial a contender goes into a comparison with, and what it scores on the test rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from deepcac.errors import DataError
from deepcac.types import Array

DEFAULT, TUNED, CLUSTERED = CHOICES = ("default", "tuned", "clustered")


class Chosen(NamedTuple):
    """Test scores of a contender, one a resample, and the number of the trial of each."""

    scores: Array
    trials: list[int]


def open_to(records: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the record of a contender; an arm may choose among its learner's own trials as well.

    So no clusters is a candidate as good as the learner itself has. This favours clusters: their
    side has more trials. Both on other resamples are a `DataError`.
    """
    record = records[name]
    alone = records.get(record["learner"], record)
    if alone is record:
        return record
    both = record["resamples"], alone["resamples"]
    seeds = [[sample["seed"] for sample in samples] for samples in both]
    if seeds[0] != seeds[1]:
        raise DataError(
            f"{name} and {record['learner']}: not on the same resamples; delete their records and "
            "run the judge again"
        )
    shared = [
        {**sample, "trials": sample["trials"] + other["trials"]}
        for sample, other in zip(*both, strict=True)
    ]
    return {**record, "trials": record["trials"] + alone["trials"], "resamples": shared}


def choose(record: dict[str, Any], choice: str, metric: str) -> Chosen:
    """Choose a trial in each resample of a record by the metric that is reported.

    A `choice` of "default" is the first trial, "tuned" the best on the validation rows, "clustered"
    the best with two clusters or more.
    """
    candidates = _candidates(record["trials"], choice)
    scores, numbers = [], []
    for sample in record["resamples"]:
        trials = sample["trials"]
        best = max(candidates, key=lambda t: trials[t]["validation"][metric])
        scores.append(trials[best]["test"][metric])
        numbers.append(best)
    return Chosen(np.array(scores), numbers)


def validated(records: Mapping[str, dict[str, Any]], name: str, metric: str = "auroc") -> float:
    """Return the mean validation score of a tuned contender, by which models are chosen."""
    resamples = open_to(records, name)["resamples"]
    best = [max(t["validation"][metric] for t in sample["trials"]) for sample in resamples]
    return float(np.mean(best))


def _candidates(trials: list[dict[str, Any]], choice: str) -> list[int]:
    if choice == DEFAULT:
        return [0]
    if choice == CLUSTERED:
        return [t for t, values in enumerate(trials) if values.get("n_clusters", 1) > 1]
    return list(range(len(trials)))
