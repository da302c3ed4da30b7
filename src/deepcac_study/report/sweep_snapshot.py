"""The sweeps that pages quote as small tables: separation terms, and switches by start."""

from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.scoring.statistics import corrected_t_test
from deepcac_study.experiments.finished_sweeps import load_sweeps

SEPARATION, STARTS = "separation", "switch_starts"
SOUND = "sound"
_METRICS = ("auroc", "auprc")
_NOT_NUMBERS = ("seed", "term", "alpha", "status")


def sweep_tables(results: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of the finished sweeps of a folder ``results``.

    Returns
    -------
    dict of str to DataFrame
        `SEPARATION`: a row a data set, term and weight, with how many trainings there were and
        diverged, and the mean and deviation over the splits of what each measured. `STARTS`:
        `start_effects` of every data set.
    """
    found = load_sweeps((results / "sweeps").glob("*_k*.parquet"))
    own = {at: table for at, table in found.separation.items() if not at[0].startswith("demo_")}
    terms = [_terms(table, *at) for at, table in own.items()]
    starts = [row for at, table in found.starts.items() for row in start_effects(table, *at)]
    return {
        SEPARATION: pd.concat(terms, ignore_index=True) if terms else pd.DataFrame(),
        STARTS: pd.DataFrame(starts),
    }


def _terms(table: pd.DataFrame, dataset: str, k: int) -> pd.DataFrame:
    each = table.groupby(["term", "alpha"], sort=False)
    measured = [name for name in table.columns if name not in _NOT_NUMBERS]
    mean, spread = each[measured].mean(), each[measured].std()
    rows = pd.concat([mean, spread.add_suffix("_sd")], axis=1).reset_index()
    rows.insert(2, "trainings", each.size().to_numpy())
    rows.insert(3, "below_zero", each["loss"].agg(lambda loss: (loss < 0).sum()).to_numpy())
    rows.insert(0, "k", k)
    rows.insert(0, "dataset", dataset)
    return rows


def start_effects(table: pd.DataFrame, dataset: str, k: int) -> list[dict[str, Any]]:
    """Return what each switch does, paired by split and start of the autoencoder.

    Parameters
    ----------
    table : DataFrame
        Of `deepcac_study.experiments.networks.switch_starts`.
    dataset : str
    k : int

    Returns
    -------
    list of dict
        A row a method, switch and metric. ``mean`` and ``start_sd`` are those of the score, for
        the sound method, or of the score less that of the sound method on the same split from
        the same start. ``start_sd`` is the deviation between starts of one split; ``low`` and
        ``high`` bound the mean over splits (corrected resampled t-test on the means over starts).
    """
    scores = table.set_index(["method", "switch", "split", "start"])[list(_METRICS)]
    sizes = {name: float(table[name].mean()) for name in ("n_train", "n_test")}
    rows = []
    for (method, switch), own in scores.groupby(["method", "switch"], sort=False):
        less = own.droplevel([0, 1])
        if switch:
            less = less - scores.xs((method, ""), level=("method", "switch"))
        for metric in _METRICS:
            values = less[metric].dropna()
            each = values.groupby("split")
            test = corrected_t_test(each.mean().to_numpy(), **sizes)
            rows.append(
                {
                    "dataset": dataset,
                    "method": method,
                    "k": k,
                    "switch": switch or SOUND,
                    "metric": metric,
                    "splits": each.ngroups,
                    "starts": int(each.size().max()),
                    "mean": test.mean,
                    "low": test.low if switch else None,
                    "high": test.high if switch else None,
                    "start_sd": float(each.var().mean() ** 0.5),
                }
            )
    return rows
