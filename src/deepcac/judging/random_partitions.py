"""The control of random cells, over many draws of the cells in place of one.

One random partition is a noisy control: what it scores changes from draw to draw by more than
clusters gain. So the trials that validation chooses are fitted in further draws, and a record has
two views: the mean of the draws, and the draw that is best on the validation rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deepcac.judging.contenders import CELLS, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_scores import METRICS, Scores, score_trial

MEAN, BEST = VIEWS = ("mean_of_cells", "best_of_cells")
_PART = "partitions"
Record = dict[str, Any]


def score_draws(
    sample: Resample,
    contender: Contender,
    trials: Sequence[dict[str, Any]],
    scores: Sequence[Scores],
    draws: int,
) -> dict[str, list[Scores]]:
    """Return the scores of the chosen trials, by number, in each of `draws` random partitions.

    Chosen are the trials that are best on the validation rows by one of the metrics; their scores
    in the first partition are those of `scores`.
    """
    chosen = {
        max(range(len(trials)), key=lambda t: scores[t]["validation"][metric]) for metric in METRICS
    }
    return {
        str(t): [
            {part: scores[t][part] for part in ("validation", "test")},
            *(_scored(sample, contender, trials[t], turn) for turn in range(1, draws)),
        ]
        for t in sorted(chosen)
    }


def _scored(sample: Resample, contender: Contender, values: dict[str, Any], turn: int) -> Scores:
    predict = fit_trial(contender, values, sample, turn)
    validation, test = (
        np.asarray(predict(rows), dtype=np.float32).astype(np.float64)
        for rows in (sample.validation, sample.test)
    )
    weights = (sample.validation.weight, sample.test.weight)
    return score_trial(sample.validation.y, sample.test.y, validation, test, weights)


def with_views(records: Mapping[str, Record]) -> dict[str, Record]:
    """Return records by contender, with the views of those that have several draws.

    In a view a chosen trial has the validation scores of its first draw, so that it is chosen
    again, and the test scores of the view.
    """
    views = {
        f"{view}_{record['learner']}": _view(record, view)
        for record in records.values()
        if record["arm"] == CELLS and all(_PART in sample for sample in record["resamples"])
        for view in VIEWS
    }
    return {**records, **views}


def _view(record: Record, view: str) -> Record:
    samples = []
    for sample in record["resamples"]:
        trials = list(sample["trials"])
        for number, draws in sample[_PART].items():
            test = {metric: _seen(draws, metric, view) for metric in METRICS}
            trials[int(number)] = {**trials[int(number)], "test": test}
        samples.append({**sample, "trials": trials})
    return {**record, "contender": f"{view}_{record['learner']}", "resamples": samples}


def _seen(draws: Sequence[Scores], metric: str, view: str) -> float:
    if view == MEAN:
        return float(np.mean([draw["test"][metric] for draw in draws]))
    return max(draws, key=lambda draw: draw["validation"][metric])["test"][metric]
