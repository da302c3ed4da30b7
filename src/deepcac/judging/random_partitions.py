"""The control of random cells, over many draws of the cells in place of one.

One random partition is a noisy control: what it scores changes from draw to draw by more than
clusters gain. So the trials that validation chooses are fitted in further draws, and a record has
two views: the mean of the draws, and the draw that is best on the validation rows. Where all trials
are fitted in each draw, a third has the effort of clusters: the mean over the draws, each with the
trial that validation chooses in it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from deepcac.judging.contenders import CELLS, Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_record import PARTS, TrialRecord, score_answers, stored_answers
from deepcac.judging.trial_scores import METRICS, advantage
from deepcac.types import Array, Ids

MEAN, BEST, EACH = VIEWS = ("mean_of_cells", "best_of_cells", "each_of_cells")
_VALIDATION, _TEST = range(len(PARTS))


def score_draws(
    sample: Resample, contender: Contender, record: TrialRecord, draws: int, *, every: bool = False
) -> dict[int, Array]:
    """Return the scores of the chosen trials, by number, in each of `draws` random partitions.

    Chosen are the trials of the record of this resample that are best on the validation rows by
    one of the metrics, or `every` trial; their scores in the first partition are those of the
    record.
    """
    (scores,) = record.scores
    return {
        t: np.array(
            [
                scores[t],
                *(
                    score_answers(sample, stored_answers(sample, predict))
                    for turn in range(1, draws)
                    for predict in [fit_trial(contender, record.values[t], sample, turn)]
                ),
            ]
        )
        for t in (range(len(scores)) if every else best_trials(scores))
    }


def best_trials(scores: Array) -> list[int]:
    """Return the trials that are best on the validation rows by one of the metrics.

    `scores` are those of one resample, of shape (n_trials, 2, n_metrics).
    """
    return sorted(set(_best(scores).tolist()))


def _best(scores: Array) -> Ids:
    """Return which is best on the validation rows by each metric, shape (..., n_metrics).

    `scores` are of shape (n, ..., 2, n_metrics).
    """
    validation = scores[..., _VALIDATION, :]
    best = [advantage(metric, validation[..., m]).argmax(0) for m, metric in enumerate(METRICS)]
    return np.stack(best, axis=-1)


def with_views(records: Mapping[str, TrialRecord]) -> dict[str, TrialRecord]:
    """Return records by contender, with the views of those that have several draws.

    In a view a chosen trial has the validation scores of its first draw, so that it is chosen
    again, and the test scores of the view.
    """
    views = {
        f"{view}_{record.learner}": _view(record, view)
        for record in records.values()
        if record.arm == CELLS and len(record.partitions) == len(record.seeds)
        for view in (VIEWS if _complete(record) else (MEAN, BEST))
    }
    return {**records, **views}


def _complete(record: TrialRecord) -> bool:
    """Describe whether every trial was fitted in each draw."""
    return all(len(draws) == len(record.values) for draws in record.partitions)


def _view(record: TrialRecord, view: str) -> TrialRecord:
    scores = record.scores.copy()
    for j, partitions in enumerate(record.partitions):
        if view == EACH:
            scores[j, :, _TEST] = _mean_of_choices(np.stack([*partitions.values()]))
            continue
        for t, draws in partitions.items():
            scores[j, t, _TEST] = (
                [np.mean(draws[:, _TEST, m]) for m in range(len(METRICS))]
                if view == MEAN
                else draws[_best(draws), _TEST, range(len(METRICS))]
            )
    return replace(record, contender=f"{view}_{record.learner}", scores=scores)


def _mean_of_choices(trials: Array) -> Array:
    """Return by metric the mean over the draws, from scores (n_trials, n_draws, 2, n_metrics)."""
    turns = np.arange(trials.shape[1])
    return np.array([trials[t, turns, _TEST, m].mean() for m, t in enumerate(_best(trials).T)])
