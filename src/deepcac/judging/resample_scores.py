"""What each contender scores in each resample, from which verdicts follow, and on average."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from deepcac.judging.choice import CHOICES, CLUSTERED, DEFAULT, TUNED, choose, open_to, with_offered
from deepcac.judging.random_partitions import with_views
from deepcac.judging.trial_record import TEST, TrialRecord
from deepcac.judging.trial_scores import LOSSES

METRICS = ("auroc", "auprc")


def resample_scores(
    records: Mapping[str, Mapping[str, TrialRecord]], metrics: Sequence[str] = METRICS
) -> pd.DataFrame:
    """Score the chosen trials of every contender on the test rows of every resample.

    Records are by data set and contender; metrics are those of `trial_scores.METRICS`.

    A row a data set, contender and resample: ``seed``, ``test_share`` (the part of the rows in the
    test), ``trials`` of its own, ``seconds`` of the processor; ``auroc_default``, ``auroc_tuned``
    and, if there are trials with two clusters or more, ``auroc_clustered``: the trial chosen by
    that metric on the validation rows (`open_to`); its number of clusters as ``auroc_tuned_k``;
    likewise the other metrics; and ``log_loss`` and ``brier`` of the trial that log loss chose.
    """
    return pd.DataFrame(
        [
            row
            for dataset, stored in records.items()
            for by_contender in [with_offered(with_views(stored))]
            for contender in by_contender
            for row in _rows(dataset, contender, by_contender, metrics)
        ]
    )


def _rows(
    dataset: str, contender: str, records: Mapping[str, TrialRecord], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    record, candidates = records[contender], open_to(records, contender)
    parted = len(record.clustered)
    chosen = {
        f"{metric}_{choice}": choose(candidates, choice, metric)
        for metric in metrics
        for choice in (DEFAULT, TUNED, *([CLUSTERED] if parted else []))
    }
    by_loss = choose(candidates, TUNED, LOSSES[0]).trials
    for j, seed in enumerate(record.seeds):
        row: dict[str, Any] = {"dataset": dataset, "contender": contender, "seed": seed}
        row |= {
            "test_share": record.test_share,
            "trials": parted if record.arm else len(record.values),
        }
        row["seconds"] = sum(record.seconds[j].tolist())
        for name, selection in chosen.items():
            row[name] = selection.scores[j]
            row[f"{name}_k"] = candidates.values[selection.trials[j]].get("n_clusters", 1)
        yield row | {name: candidates.score(TEST, name)[j, by_loss[j]] for name in LOSSES}


def mean_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row a data set and contender of `resample_scores`.

    It has ``resamples``, ``trials`` of its own, ``seconds`` of all resamples, and mean scores.
    """
    if scores.empty:
        return scores
    columns = [f"{metric}_{choice}" for metric in METRICS for choice in CHOICES]
    counted = {"resamples": ("seed", "size"), "trials": ("trials", "first")}
    means = {name: (name, "mean") for name in (*columns, *LOSSES) if name in scores}
    groups = scores.groupby(["dataset", "contender"], sort=False, as_index=False)
    table: pd.DataFrame = groups.agg(**counted, seconds=("seconds", "sum"), **means)
    return table.assign(seconds=table["seconds"].round().astype(int)).round(6)


def clustered_scores(scores: pd.DataFrame, metric: str) -> pd.Series:
    """Return a mean score of every row: with two clusters or more where it can have them."""
    tuned = scores[f"{metric}_tuned"]
    return scores.get(f"{metric}_clustered", tuned).fillna(tuned)
