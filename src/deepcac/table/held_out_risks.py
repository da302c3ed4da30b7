"""The risks that chosen models give to test rows, kept over all resamples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from deepcac.judging.contenders import Contender
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_answers import TEST, TrialAnswers
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


def risks_of_choices(
    sample: Resample,
    results: Mapping[Contender, tuple[dict[str, Any], pa.Table]],
) -> HeldOut | None:
    """Keep the test risks of the trial that each contender chose; None for three classes or more.

    A model with clusters may choose its learner's own trials (`deepcac.judging.choice.open_to`).
    """
    if sample.n_classes != 2:
        return None
    plain = {contender.learner: contender for contender in results if not contender.arm}
    risk = {}
    for contender in results:
        sides = [results[contender]]
        if contender.arm and contender.learner in plain:
            sides.append(results[plain[contender.learner]])
        trials = [
            (trial["validation"]["log_loss"], table, number)
            for entry, table in sides
            for number, trial in enumerate(entry["trials"])
        ]
        _, table, number = max(trials, key=lambda trial: trial[0])
        risk[contender.id] = TrialAnswers(table).part(TEST).risk(number)
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
