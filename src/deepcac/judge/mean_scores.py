"""Mean test scores of every contender, as it comes and tuned."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from deepcac.judge.choice import CLUSTERED, DEFAULT, TUNED, choose, open_to

METRICS = ("auroc", "auprc")
_LOSSES = ("log_loss", "brier")


def mean_scores(
    records: Mapping[str, Mapping[str, dict[str, Any]]],
) -> Iterator[dict[str, Any]]:
    """Yield a row a data set and contender.

    Parameters
    ----------
    records : mapping
        Data set to contender to record (`verdicts.read_records`).

    Yields
    ------
    dict
        ``dataset``, ``contender``, ``resamples``, ``trials`` of its own, ``seconds`` (of the
        processor, for all of these), ``auroc_default``, ``auroc_tuned`` and likewise ``auprc``:
        means over the test parts, the trial chosen by that metric on the validation rows
        (`open_to`); ``auroc_clustered`` and ``auprc_clustered`` of the best trial with two
        clusters or more, if there are such; ``log_loss`` and ``brier`` (lower is better) of the
        trial that log loss chose.
    """
    for dataset, found in records.items():
        for contender, record in found.items():
            candidates = open_to(found, contender)
            seconds = [one["seconds"] for each in record["resamples"] for one in each["trials"]]
            yield {
                "dataset": dataset,
                "contender": contender,
                "resamples": len(record["resamples"]),
                "trials": len(record["trials"]),
                "seconds": round(sum(seconds)),
                **{
                    f"{metric}_{choice}": round(
                        float(choose(candidates, choice, metric).scores.mean()), 6
                    )
                    for metric in METRICS
                    for choice in _choices(record["trials"])
                },
                **_losses(candidates),
            }


def clustered_scores(found: pd.DataFrame, metric: str) -> pd.Series:
    """Return a mean score of every row: with two clusters or more where it can have them.

    Parameters
    ----------
    found : DataFrame
        Rows of `mean_scores`.
    metric : str
    """
    tuned = found[f"{metric}_tuned"]
    return found.get(f"{metric}_clustered", tuned).fillna(tuned)


def _choices(trials: list[dict[str, Any]]) -> list[str]:
    parted = any(values.get("n_clusters", 1) > 1 for values in trials)
    return [DEFAULT, TUNED, *([CLUSTERED] if parted else [])]


def _losses(record: dict[str, Any]) -> dict[str, float]:
    chosen = choose(record, TUNED, "log_loss").trials
    tests = [
        sample["trials"][t]["test"] for sample, t in zip(record["resamples"], chosen, strict=True)
    ]
    return {name: round(-sum(test[name] for test in tests) / len(tests), 6) for name in _LOSSES}
