"""Mean test scores of every contender, as it comes and tuned."""

import pandas as pd

from deepcac.judging.choice import CHOICES
from deepcac.judging.resample_scores import LOSSES, METRICS


def mean_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row a data set and contender.

    Parameters
    ----------
    scores : DataFrame
        Of `deepcac.judging.resample_scores.resample_scores`.

    Returns
    -------
    DataFrame
        ``dataset``, ``contender``, ``resamples``, ``trials`` of its own, ``seconds`` of all
        resamples, and the means of its scores over them.
    """
    if scores.empty:
        return scores
    own = [f"{metric}_{choice}" for metric in METRICS for choice in CHOICES]
    counted = {
        "resamples": ("seed", "size"),
        "trials": ("trials", "first"),
        "seconds": ("seconds", "sum"),
    }
    means = {name: (name, "mean") for name in (*own, *LOSSES) if name in scores}
    found = scores.groupby(["dataset", "contender"], sort=False, as_index=False)
    table: pd.DataFrame = found.agg(**counted, **means)
    return table.assign(seconds=table["seconds"].round().astype(int)).round(6)


def clustered_scores(found: pd.DataFrame, metric: str) -> pd.Series:
    """Return a mean score of every row: with two clusters or more where it can have them."""
    tuned = found[f"{metric}_tuned"]
    return found.get(f"{metric}_clustered", tuned).fillna(tuned)
