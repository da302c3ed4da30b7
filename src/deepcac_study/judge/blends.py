"""Greedy blends of stored trials (Caruana et al. 2004)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac.judging.choice import TUNED, choose
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.resamples import test_share
from deepcac.judging.spaces import of_kind
from deepcac.judging.trial_answers import TEST, VALIDATION, TrialAnswers
from deepcac.scoring.equivalence import difference
from deepcac.scoring.margins import MARGIN
from deepcac.types import Array, Ids
from deepcac_study.judge.study_files import answers_path

STEPS = 15


class StoredAnswers(NamedTuple):
    """Answers of all trials on one part of a resample.

    Labels are of shape (n,), probabilities of shape (trials, n, n_classes).
    """

    label: Ids
    probability: Array


def read_answers(
    paths: Sequence[str | os.PathLike[str]],
) -> Iterator[tuple[StoredAnswers, StoredAnswers]]:
    """Yield the validation and the test answers of each resample, of the trials of all records.

    Answers to different rows are a `DataError`.
    """
    records = [TrialAnswers(read_table(path)) for path in paths]
    for path, trials in zip(paths, records, strict=True):
        if not trials.same_rows(records[0]):
            raise DataError(f"{path}: other rows than {paths[0]}; run the judge again")
    for seed in records[0].seeds:
        validation, test = (
            [trials.part(part, seed) for trials in records] for part in (VALIDATION, TEST)
        )
        yield _stored(validation), _stored(test)


def _stored(records: Sequence[TrialAnswers]) -> StoredAnswers:
    probability = np.concatenate([trials.probabilities() for trials in records])
    return StoredAnswers(records[0].label, probability)


def aurocs(label: Ids, probability: Array) -> Array:
    """Return the AUROC of many answers (m, n, n_classes), shape (m,), over the classes of three."""
    n_classes, per_class = probability.shape[2], []
    for c in range(n_classes) if n_classes > 2 else [1]:
        events = label == c
        n_own = int(events.sum())
        ranks = rankdata(probability[:, :, c], axis=1)[:, events].sum(axis=1)
        per_class.append((ranks - n_own * (n_own + 1) / 2) / (n_own * (len(label) - n_own)))
    return np.asarray(np.mean(per_class, axis=0))


def greedy(validation: StoredAnswers) -> Ids:
    """Return how often each trial enters the blend, shape (trials,).

    In each of `STEPS` steps the trial that raises AUROC most is added, with repeats; the blend of
    the best step is kept.
    """
    total = np.zeros(validation.probability.shape[1:])
    best, best_count = -np.inf, np.zeros(len(validation.probability), dtype=np.int64)
    count = best_count.copy()
    for _ in range(STEPS):
        scores = aurocs(validation.label, total + validation.probability)
        winner = int(np.argmax(scores))
        total += validation.probability[winner]
        count[winner] += 1
        if scores[winner] > best:
            best, best_count = scores[winner], count.copy()
    return best_count


def blend_scores(paths: Sequence[str | os.PathLike[str]]) -> Array:
    """Return the test AUROC of one blend of the trials of all records, for each resample."""
    scores = []
    for validation, test in read_answers(paths):
        count = greedy(validation)
        blend = np.einsum("t,tnc->nc", count / count.sum(), test.probability)
        scores.append(aurocs(test.label, blend[None])[0])
    return np.array(scores)


def blend_rows(
    records: Mapping[str, Mapping[str, dict[str, Any]]], folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield how the boosted classifier with subtypes compares with blends of rivals' trials.

    These are of boosting, and of boosting and networks. Records are `verdicts.read_records`;
    answers are at ``{dataset}/{contender}.parquet`` of the study's folder. A row has ``dataset``,
    ``blend`` (learners, with ``+`` between), its mean test ``auroc``, and of the tuned classifier
    less it ``mean``, ``low`` and ``high``.
    """
    boosting, network = of_kind("boosting")[0], of_kind("network")[0]
    ours = of_kind("subtypes")[-1]
    for dataset, by_contender in records.items():
        for names in ((boosting,), (boosting, network)):
            answers = [answers_path(folder / dataset / name) for name in names]
            there = {*names, ours} <= by_contender.keys() and all(path.exists() for path in answers)
            if not there:  # answers do not ship
                continue
            scores = blend_scores(answers)
            gap = choose(by_contender[ours], TUNED, METRICS[0]).scores - scores
            shown = difference(gap, test_share=test_share(by_contender[ours]), margin=MARGIN)
            yield {
                **{"dataset": dataset, "blend": "+".join(names), "auroc": scores.mean()},
                **{"mean": shown.mean, "low": shown.low, "high": shown.high},
            }
