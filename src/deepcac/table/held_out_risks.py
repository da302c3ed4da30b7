"""The risks that chosen models give to test rows, kept over all resamples."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deepcac.judging.choice import TUNED, choose, open_to
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import TrialRecord
from deepcac.types import Array, Ids


class HeldOut(NamedTuple):
    """Risks of the test rows of one resample or of several, pooled; of two classes alone.

    Attributes
    ----------
    y : ndarray of shape (n,)
    patient : ndarray of shape (n,)
        Whose prediction it is: a value of the group column, else the row.
    row : ndarray of shape (n,)
        Number of the row in the table's file.
    resample : ndarray of shape (n,)
        Place of the resample.
    risk : dict of str to ndarray of shape (n,)
        By contender: of the trial with the best log loss on the validation rows, so that risks
        are judged, and not ranks alone.
    """

    y: Ids
    patient: Ids
    row: Ids
    resample: Ids
    risk: dict[str, Array]


def risks_of_choices(sample: Resample, records: Sequence[TrialRecord]) -> HeldOut | None:
    """Keep the test risks of the trial that each contender chose; None for three classes or more.

    The records are those of one resample. A model with clusters may choose its learner's own
    trials (`deepcac.judging.choice.open_to`).
    """
    if sample.n_classes != 2:
        return None
    by_name = {record.contender: record for record in records}
    risk = {}
    for name, record in by_name.items():
        (trial,) = choose(open_to(by_name, name), TUNED, "log_loss").trials
        own = trial < len(record.values)
        source = record if own else by_name[record.learner]
        number = trial if own else trial - len(record.values)
        risk[name] = source.answers[0].part(TEST).risk(number)
    test = sample.test
    patient = test.row_id if test.unit is None else test.unit
    place = np.zeros(len(test), dtype=np.int64)
    return HeldOut(test.y, np.asarray(patient), test.row_id, place, risk)


def pooled(parts: Sequence[HeldOut | None]) -> HeldOut | None:
    """Put the resamples together; None without any."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    return HeldOut(
        y=np.concatenate([part.y for part in present]),
        patient=np.concatenate([part.patient for part in present]),
        row=np.concatenate([part.row for part in present]),
        resample=np.repeat(np.arange(len(present)), [len(part.y) for part in present]),
        risk={
            name: np.concatenate([part.risk[name] for part in present]) for name in present[0].risk
        },
    )
