"""Which trial a contender goes into a comparison with, and what it scores on the test rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from deepcac.errors import DataError
from deepcac.judging.contenders import BENT_OF
from deepcac.judging.trial_record import TEST, VALIDATION, TrialRecord
from deepcac.judging.trial_scores import advantage
from deepcac.scoring.statistics import corrected_error
from deepcac.types import Array

OFFERED = "offered_"  # before the name of a rival that may be declined
DEFAULT, TUNED, CLUSTERED = CHOICES = ("default", "tuned", "clustered")


class Chosen(NamedTuple):
    """Test scores of a contender, one a resample, and the number of the trial of each."""

    scores: Array
    trials: list[int]


def open_to(records: Mapping[str, TrialRecord], name: str) -> TrialRecord:
    """Return the record of a contender; an arm may choose among its learner's own trials as well.

    So no clusters is a candidate as good as the learner itself has. This favours clusters: their
    side has more trials. Both on other resamples are a `DataError`.
    """
    record = records[name]
    alone = records.get(record.learner, record)
    if alone is record:
        return record
    if record.seeds != alone.seeds:
        raise DataError(
            f"{name} and {record.learner}: not on the same resamples; delete their records and "
            "run the judge again"
        )
    return replace(
        record,
        values=record.values + alone.values,
        scores=np.concatenate([record.scores, alone.scores], axis=1),
        seconds=np.concatenate([record.seconds, alone.seconds], axis=1),
    )


def with_offered(records: Mapping[str, TrialRecord]) -> dict[str, TrialRecord]:
    """Return records with a view of each bent line or tree that `open_to` lets decline."""
    views = {
        f"{OFFERED}{name}": replace(records[name], contender=f"{OFFERED}{name}", learner=learner)
        for name, learner in BENT_OF.items()
        if name in records
    }
    return {**records, **views}


def choose(record: TrialRecord, choice: str, metric: str) -> Chosen:
    """Choose a trial in each resample of a record by the metric that is reported.

    A `choice` of "default" is the first trial, "tuned" the best on the validation rows, "clustered"
    the best with two clusters or more.
    """
    every = list(range(len(record.values)))
    candidates = np.array({DEFAULT: [0], CLUSTERED: record.clustered}.get(choice, every))
    validation = advantage(metric, record.score(VALIDATION, metric)[:, candidates])
    trials = candidates[validation.argmax(axis=1)]
    scores = record.score(TEST, metric)[np.arange(len(trials)), trials]
    return Chosen(scores, trials.tolist())


def validated(records: Mapping[str, TrialRecord], name: str, metric: str = "auroc") -> Array:
    """Return the validation scores of a tuned contender, one a resample; models are chosen by them.

    Of a loss they are negative, so that more is better.
    """
    return advantage(metric, open_to(records, name).score(VALIDATION, metric)).max(axis=1)


def simplest(scores: Sequence[Array], ratio: float) -> int:
    """Return the first of some models whose mean score is within a standard error of the best.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_resamples,)
        Of models on the same resamples, the simplest one first.
    ratio : float
        Rows that are scored in a resample by rows that are learnt from. The error is that of the
        paired difference, corrected for rows in common (Nadeau and Bengio 2003).
    """
    best = max(scores, key=lambda model: float(model.mean()))
    return next(
        place
        for place, model in enumerate(scores)
        if model is best or (best - model).mean() <= corrected_error(best - model, ratio)
    )
