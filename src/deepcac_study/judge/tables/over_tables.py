"""Results over the tables that are run in one job, alone and with the earlier data sets."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from deepcac.judging.questions import ANY, BAG, FORCED, HELP, NEGATIVE, SEPARATED, SUBTYPES
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.spaces import of_kind
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import NEVER, over_datasets
from deepcac.scoring.hierarchical import hierarchical
from deepcac.scoring.margins import MARGIN, MARGINS
from deepcac.scoring.statistics import holm
from deepcac_study.judge.tables.table_trials import THRESHOLDS, read_table_record

ROOM = 0.995  # AUROC of the line alone from which nothing is left to gain
MAIN = "auroc"
ASKED = (HELP, FORCED, SEPARATED, ANY, SUBTYPES, BAG, NEGATIVE)
_ALONE = of_kind("plain")[0]
_COUNTED = ["n_rows", "n_features", "n_classes"]


def read_tables(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Read the records of tables, by data set."""
    return {record["dataset"]: record for record in map(read_table_record, paths)}


def table_scores(records: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Return `resample_scores` of the tables, by every metric of `MARGINS`."""
    contenders = {name: record["contenders"] for name, record in records.items()}
    return resample_scores(contenders, tuple(MARGINS))


def table_means(records: Mapping[str, dict[str, Any]], scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row per table and contender: sizes and mean test scores."""
    metric_columns = [name for name in scores if str(name).rpartition("_")[0] in MARGINS]
    groups = scores.groupby(["dataset", "contender"], sort=False)
    counted = {"resamples": ("seed", "size"), "trials": ("trials", "first")}
    means = groups.agg(**counted, seconds=("seconds", "sum")).join(groups[metric_columns].mean())
    sizes = [
        {"dataset": name, **{n: record[n] for n in _COUNTED}} for name, record in records.items()
    ]
    return pd.DataFrame(sizes).merge(means.reset_index(), on="dataset")


def table_verdicts(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare the contenders on every table; families consist of the new tables only."""
    tables = (
        verdicts(scores, margin, margin / 2, ASKED, metrics=(metric,))
        for metric, margin in MARGINS.items()
    )
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def table_risks(records: Mapping[str, dict[str, Any]]) -> pd.DataFrame:
    """Return mean calibration and net benefit of every contender on tables of two classes."""
    return mean_risks(
        (dataset, name, choice, description)
        for dataset, record in records.items()
        for sample in record["risks"]
        for name, choices in sample.items()
        for choice, description in choices.items()
    )


def mean_risks(descriptions: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> pd.DataFrame:
    """Return the means of `describe_risks` over the resamples of a data set and contender.

    `descriptions` are data set, contender, choice of a trial, and the result for a resample.
    """
    keys = ["dataset", "contender", "choice"]
    rows = [
        dict(zip(keys, of, strict=True)) | _flat(description) for *of, description in descriptions
    ]
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(rows).groupby(keys, as_index=False, sort=False).mean()


def _flat(description: Mapping[str, Any]) -> dict[str, float]:
    """Return the description with a number per threshold of net benefit."""
    benefit = zip(THRESHOLDS, description["net_benefit"], strict=True)
    plain = {name: value for name, value in description.items() if name != "net_benefit"}
    return plain | {f"net_benefit_{t:g}": value for t, value in benefit}


def over_tables(older: pd.DataFrame, newer: pd.DataFrame) -> pd.DataFrame:
    """Predict the effect of clusters on a new table, by arm and learner, from `verdicts`.

    A row per scope (all tables; the new ones; those on which trees beat the line), question and
    pair: ``tables``, on how many clusters were never chosen, the mean difference, the signed-rank p
    unadjusted and adjusted inside scope and question, and probabilities that clusters are worse,
    the same and better on a new table by the Bayesian signed-rank test (``rank_``) and by the
    hierarchical model (``new_``).
    """
    both = pd.concat([older, newer], ignore_index=True)
    asked = both["question"].isin([HELP.id, FORCED.id]) & both["reference"].isin(newer["reference"])
    both = both[(both["metric"] == MAIN) & asked]
    alone = both[both["reference"] == _ALONE].groupby("dataset")["reference_score"].first()
    room = alone.index[alone < ROOM]
    scopes = {
        "all": both,
        "new": both[both["dataset"].isin(newer["dataset"])],
        "room": both[both["dataset"].isin(room)],
    }
    table = pd.DataFrame(
        [row for name, scope_rows in scopes.items() for row in _pairs(name, scope_rows)]
    )
    family = table.groupby(["scope", "question"])["p"]
    return table.assign(p_holm=family.transform(lambda p: holm(p.to_numpy())))


def _pairs(scope: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row per question and pair: the pooled difference and its probabilities."""
    keys = ["question", "contender", "reference"]
    for pair, group in rows.groupby(keys):
        d = group["mean"].to_numpy()
        new = hierarchical(d, errors(group), MARGIN)
        ranks = over_datasets(d, MARGIN)
        yield {
            "scope": scope,
            **dict(zip(keys, pair, strict=True)),
            "tables": len(group),
            "never": int((group["verdict"] == NEVER).sum()),
            "mean": d.mean(),
            "p": float(stats.wilcoxon(d, zero_method="pratt").pvalue) if d.any() else 1.0,
            **dict(zip(("rank_worse", "rank_same", "rank_better"), ranks, strict=True)),
            "new_mean": new.mean,
            "new_worse": new.worse,
            "new_same": new.same,
            "new_better": new.better,
        }


def errors(rows: pd.DataFrame) -> np.ndarray:
    """Return the standard errors (rows,) of comparisons; 0 where nothing was tested."""
    half = (rows["high"] - rows["low"]) / 2
    quantile = stats.t.ppf(0.975, rows["resamples"] - 1)
    error: np.ndarray = (half / quantile).fillna(0.0).to_numpy()
    return error
