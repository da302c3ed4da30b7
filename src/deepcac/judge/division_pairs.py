"""The classifier with subtypes less its rivals on published divisions, pair by pair."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deepcac.errors import DataError
from deepcac.judge.public_protocols import BOOTSTRAP, mean_answer
from deepcac.judge.spaces import of_kind
from deepcac.judge.trial_scores import METRICS
from deepcac.judge.trials import answers_path, read_trials
from deepcac.scoring.bootstrap import SplitScores, interval, poisson_weights, weighted_scores
from deepcac.storage import read_table


def division_pairs(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row a division, rival and metric.

    Parameters
    ----------
    folder : Path
        Of one division: records of `public_protocols.run_division`.

    Yields
    ------
    dict
        ``division``, ``contender``, ``reference``, ``metric``; ``mean``, the difference of the mean
        answers of the trials that this metric chose, and ``low`` and ``high``, its interval by a
        bootstrap of the test rows, both contenders on the same ones (95 %).

    Raises
    ------
    DataError
        Two contenders were tested on different rows.
    """
    ours = folder / f"{of_kind('subtypes')[-1]}.json"
    if not ours.exists():
        return
    for metric in METRICS[:2]:
        own = _answer(ours, metric)
        for path in sorted(folder.glob("*.json")):
            if path != ours:
                rival = _answer(path, metric)
                if not np.array_equal(own.rows, rival.rows):
                    raise DataError(f"{path}: tested on other rows than {ours}; run both again")
                about = {"division": folder.name, "contender": ours.stem, "reference": path.stem}
                yield {**about, "metric": metric, **_difference(own, rival, metric)}


def _answer(path: Path, metric: str) -> SplitScores:
    return mean_answer(read_trials(path), read_table(answers_path(path)), metric).split


def _difference(own: SplitScores, rival: SplitScores, metric: str) -> dict[str, float]:
    once, weights = np.ones((len(own.rows), 1), np.uint8), poisson_weights(len(own.rows), BOOTSTRAP)
    mean, drawn = (
        weighted_scores(own, rows)[metric] - weighted_scores(rival, rows)[metric]
        for rows in (once, weights)
    )
    low, high = interval(drawn)
    return {"mean": float(mean[0]), "low": low, "high": high}
