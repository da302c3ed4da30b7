"""What each contender scores in each resample, from which verdicts follow, and on average."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from deepcac.judging.choice import CHOICES, CLUSTERED, DEFAULT, TUNED, choose, open_to
from deepcac.judging.random_partitions import with_views
from deepcac.judging.resamples import test_share

METRICS = ("auroc", "auprc")
LOSSES = ("log_loss", "brier")


def resample_scores(
    records: Mapping[str, Mapping[str, dict[str, Any]]], metrics: Sequence[str] = METRICS
) -> pd.DataFrame:
    """Score the chosen trials of every contender on the test rows of every resample.

    Records are by data set and contender; metrics are those of `trial_scores.METRICS`.

    A row a data set, contender and resample: ``seed``, ``test_share`` (the part of the rows in the
    test), ``trials`` of its own, ``seconds`` of the processor; ``auroc_default``, ``auroc_tuned``
    and, if there are trials with two clusters or more, ``auroc_clustered``: the trial chosen by
    that metric on the validation rows (`open_to`); its number of clusters as ``auroc_tuned_k``;
    likewise the other metrics; and ``log_loss`` and ``brier`` (lower is better) of the trial that
    log loss chose.
    """
    return pd.DataFrame(
        [
            row
            for dataset, stored in records.items()
            for by_contender in [with_views(stored)]
            for contender in by_contender
            for row in _rows(dataset, contender, by_contender, metrics)
        ]
    )


def _rows(
    dataset: str, contender: str, records: Mapping[str, dict[str, Any]], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    record, candidates = records[contender], open_to(records, contender)
    parted = sum(values.get("n_clusters", 1) > 1 for values in record["trials"])
    n_trials = parted if record["arm"] else len(record["trials"])
    chosen = {
        f"{metric}_{choice}": choose(candidates, choice, metric)
        for metric in metrics
        for choice in (DEFAULT, TUNED, *([CLUSTERED] if parted else []))
    }
    by_loss = choose(candidates, TUNED, LOSSES[0]).trials
    share = test_share(record)
    for j, sample in enumerate(candidates["resamples"]):
        row: dict[str, Any] = {"dataset": dataset, "contender": contender, "seed": sample["seed"]}
        row |= {"test_share": share, "trials": n_trials}
        row["seconds"] = sum(trial["seconds"] for trial in record["resamples"][j]["trials"])
        for name, selection in chosen.items():
            row[name] = selection.scores[j]
            row[f"{name}_k"] = candidates["trials"][selection.trials[j]].get("n_clusters", 1)
        test = sample["trials"][by_loss[j]]["test"]
        yield row | {name: -test[name] for name in LOSSES}


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
