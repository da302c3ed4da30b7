"""What models say of patients whom they have not seen: one risk a patient."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.trials import TEST
from deepcac.task import Array, Ids

LOSS = "log_loss"  # chooses the trial, because risks are judged and not ranks alone


def unseen_risks(records: Mapping[str, dict[str, Any]], contender: str, row_id: Ids) -> Array:
    """Return the mean risk of each patient over the resamples in which it was a test row.

    Parameters
    ----------
    records : mapping
        Contender to record, whose resamples hold ``answers`` (`deepcac.judging.trials`).
    contender : str
        One with clusters always uses two or more here.
    row_id : ndarray of shape (n,), int64
        Ascending.

    Returns
    -------
    ndarray of shape (n,)
        NaN for a patient that was in no test.
    """
    record = records[contender]
    how = CLUSTERED if record["arm"] else TUNED
    chosen = choose(open_to(records, contender), how, LOSS).trials
    total, count = np.zeros(len(row_id)), np.zeros(len(row_id))
    for trial, sample in zip(chosen, record["resamples"], strict=True):
        answers = sample["answers"]
        test = np.asarray(answers["part"]) == TEST
        place = np.searchsorted(row_id, np.asarray(answers["row_id"])[test])
        total[place] += np.asarray(answers[f"t{trial}_1"], dtype=np.float64)[test]
        count[place] += 1
    return np.divide(total, count, out=np.full(len(row_id), np.nan), where=count > 0)
