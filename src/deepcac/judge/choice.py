"""Which trial a contender goes into a comparison with, and what it scores on the test rows."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

DEFAULT, TUNED, CLUSTERED = CHOICES = ("default", "tuned", "clustered")


class Chosen(NamedTuple):
    """Test scores of a contender, one a resample, and the trial of each.

    Attributes
    ----------
    scores : ndarray of shape (J,)
    trials : list of int
        Numbers of the chosen trials.
    """

    scores: Array
    trials: list[int]


def choose(record: dict[str, Any], choice: str, metric: str) -> Chosen:
    """Choose a trial in each resample by the metric that is reported.

    Parameters
    ----------
    record : dict
        Of `trials.run_trials`.
    choice : {"default", "tuned", "clustered"}
        The first trial; the best on the validation rows; the best with two clusters or more.
    metric : str
        One of `trial_scores.METRICS`.
    """
    open_to = _candidates(record["trials"], choice)
    scores, numbers = [], []
    for sample in record["resamples"]:
        found = sample["trials"]
        best = max(open_to, key=lambda t: found[t]["validation"][metric])
        scores.append(found[best]["test"][metric])
        numbers.append(best)
    return Chosen(np.array(scores), numbers)


def _candidates(trials: list[dict[str, Any]], choice: str) -> list[int]:
    if choice == DEFAULT:
        return [0]
    if choice == CLUSTERED:
        return [t for t, values in enumerate(trials) if values.get("n_clusters", 1) > 1]
    return list(range(len(trials)))
