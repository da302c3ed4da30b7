"""Paired comparisons of finished runs: effects of clustering, and of each switch.

A table of comparisons has a row for each pair of runs and metric, first - second on the same
splits: ``protocol``, ``dataset``, ``method`` and ``k`` of the first, the ``reference`` method,
``comparison`` (two arms, such as ``"CAC − plain"``), ``metric``; the means over the splits
``first_mean`` and ``second_mean``; ``mean``, ``low``, ``high`` and ``p`` of the corrected
resampled t-test; ``p_holm``, adjusted inside the table; ``boot_low`` and ``boot_high`` of the
paired bootstrap, NaN if the score files do not have the same rows; and the paths of both runs,
``first`` and ``second``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.scoring.bootstrap import (
    SplitScores,
    Weights,
    all_rows,
    bootstrap_scores,
    interval,
    poisson_weights,
)
from deepcac.scoring.statistics import corrected_t_test, holm
from deepcac_study.catalogue.methods import ARM_NAMES, YARDSTICKS, classifiers, parse_method
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import switches
from deepcac_study.records.runs import Run, Runs

METRICS = ("f1", "auroc", "auprc")
_COLUMNS = (
    *("protocol", "dataset", "method", "reference", "k", "comparison", "metric"),
    *("first_mean", "second_mean", "mean", "low", "high", "p", "first", "second"),
)
_SCORE_COLUMNS = ["row_id", "seed", "label", "predicted", "p_1"]
Pairs = Iterable[tuple[Run, Run, str]]
ROW_PAIRS = (("km", ""), ("cac", ""), ("cac", "km"))  # of arms; none is the classifier alone


@dataclass
class Bootstraps:
    """Bootstrap values of runs, cached."""

    resamples: int = 100  # number of resamples of every run
    # Intervals of runs without scores, by the paths of both and the metric.
    stored: Mapping[tuple[str, str, str], tuple[float, float]] = field(default_factory=dict)
    _scores: dict[str, dict[str, npt.NDArray[np.float64]]] = field(default_factory=dict)
    _rows: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    _weights: dict[int, Weights] = field(default_factory=dict)

    def difference(self, first: Run, second: Run, metric: str) -> tuple[float, float]:
        """Return the interval of a paired difference; NaN if it is constant or not comparable."""
        stored = self.stored.get((first.path, second.path, metric), (np.nan, np.nan))
        draws, other = self._of(first), self._of(second)
        if not (metric in draws and metric in other):
            return stored
        if not np.array_equal(self._rows[first.path], self._rows[second.path]):
            return stored
        low, high = interval(draws[metric] - other[metric])
        return (low, high) if low < high else stored

    def _of(self, run: Run) -> dict[str, npt.NDArray[np.float64]]:
        """Return the bootstrap values of a run by metric; empty without scores."""
        if run.path not in self._scores:
            self._scores[run.path] = {}
            if splits := split_scores(run):
                self._rows[run.path] = rows = all_rows(splits)
                self._scores[run.path] = dict(bootstrap_scores(splits, self._weigh(len(rows))))
        return self._scores[run.path]

    def _weigh(self, n: int) -> Weights:
        if n not in self._weights:
            self._weights[n] = poisson_weights(n, self.resamples)
        return self._weights[n]


def split_scores(run: Run) -> list[SplitScores]:
    """Read a two-class run's test scores, one entry per split; empty without score files."""
    table = run.scores(_SCORE_COLUMNS) if int(run.record.get("n_classes", 2)) == 2 else None
    if table is None:
        return []
    rows, seeds, label, predicted, score = (
        table[name].to_numpy(zero_copy_only=False) for name in _SCORE_COLUMNS
    )
    return [
        SplitScores(rows[part], label[part], predicted[part], score[part].astype(np.float64))
        for part in (np.flatnonzero(seeds == seed) for seed in np.unique(seeds))
    ]


def compare_runs(
    first: Run, second: Run, label: str, metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """Compare two runs, one row per metric.

    Runs with different numbers of splits, or without a value, give no row. If the splits do not
    have the same rows, there is a difference, but no test of it.
    """
    paired = first.record["inputs"]["splits"] == second.record["inputs"]["splits"]
    about = {name: getattr(first, name) for name in ("protocol", "dataset", "method", "k")}
    about |= {"reference": second.method, "comparison": label}
    about |= {"first": first.path, "second": second.path}
    rows = []
    for metric in metrics:
        scores, other = (run.per_split(run.reported(metric, "deepcac")) for run in (first, second))
        if not len(scores) or len(scores) != len(other) or np.isnan([scores, other]).any():
            continue
        n_train, n_test = (
            float(np.mean([split[part] for split in first.splits]))
            for part in ("n_train", "n_test")
        )
        test = corrected_t_test(scores - other, n_train=n_train, n_test=n_test)
        tested = {"low": test.low, "high": test.high, "p": test.p}
        rows.append(
            {
                **about,
                "metric": metric,
                "first_mean": float(scores.mean()),
                "second_mean": float(other.mean()),
                "mean": test.mean,
                **(tested if paired else dict.fromkeys(tested, np.nan)),
            }
        )
    return rows


def clustering_effects(runs: Runs, bootstraps: Bootstraps) -> pd.DataFrame:
    """Compare sound runs: k = 1, KM and CAC of base learners, and k = 1 and k > 1 of deep methods.

    Holm's correction covers all comparisons by one metric, of base classifiers and of deep
    methods separately: they are two questions.
    """
    families = (_base_pairs(runs), _deep_pairs(runs))
    return pd.concat([family_effects(pairs, bootstraps) for pairs in families], ignore_index=True)


def family_effects(pairs: Pairs, bootstraps: Bootstraps) -> pd.DataFrame:
    """Compare the pairs of one question, with intervals and adjusted p values."""
    rows = []
    for first, second, label in pairs:
        for row in compare_runs(first, second, label, _comparable(first, second)):
            low, high = bootstraps.difference(first, second, row["metric"])
            rows.append({**row, "boot_low": low, "boot_high": high})
    return adjusted(rows)


def _comparable(first: Run, second: Run) -> Sequence[str]:
    """Return the metrics by which two methods can be compared.

    F1 depends on class weights, which the base classifiers have and the networks do not.
    """
    families = {parse_method(run.method).family for run in (first, second)}
    return METRICS if len(families) == 1 else [name for name in METRICS if name != "f1"]


def adjusted(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return comparisons with p values adjusted by Holm, among the rows of one metric."""
    table = pd.DataFrame(rows, columns=[*_COLUMNS, "boot_low", "boot_high"])
    by_metric = table.groupby("metric")["p"]
    return table.assign(
        p_holm=by_metric.transform(lambda p: pd.Series(holm(p.to_numpy()), p.index))
    )


def usable(runs: Runs, protocol: str = "sound") -> list[Run]:
    """Return the finished runs of a protocol on real data."""
    return [
        run for run in runs.where(protocol=protocol, status="ok", synthetic=False) if run.splits
    ]


def arms_of(runs: Runs, dataset: str, base: str, k: int) -> dict[str, Run]:
    """Return the usable sound runs of a classifier by arm; the arm without clusters is ``""``."""
    by_place = {(run.dataset, run.method, run.k): run for run in usable(runs)}
    places = {arm: (dataset, f"{arm}_{base}", k) for arm in ARM_NAMES} | {"": (dataset, base, 1)}
    return {arm: by_place[place] for arm, place in places.items() if place in by_place}


def arm_pairs(arms: Mapping[str, Run], wanted: Iterable[tuple[str, str]]) -> Pairs:
    """Yield the wanted pairs of arms that were both run, with a label."""
    names = ARM_NAMES | {"": "plain"}
    for first, second in wanted:
        if first in arms and second in arms:
            yield arms[first], arms[second], f"{names[first]} − {names[second]}"


def _base_pairs(runs: Runs) -> Pairs:
    """Yield the pairs of arms on each data set, base classifier and k."""
    usable_runs = usable(runs)
    for run in usable_runs:
        if run.method in classifiers() and run.k == 1:
            for k in sorted({r.k for r in usable_runs if r.dataset == run.dataset and r.k > 1}):
                arms = arms_of(runs, run.dataset, run.method, k)
                yield from arm_pairs(arms, ROW_PAIRS)


def _deep_pairs(runs: Runs) -> Pairs:
    """Yield clustered network, its k = 1 or a yardstick, and a label of the pair."""
    by_place = {(run.dataset, run.method, run.k): run for run in usable(runs)}
    for run in by_place.values():
        method = parse_method(run.method)
        if run.k > 1 and method.family == "deep" and method.clustered:
            for other in (run.method, *YARDSTICKS):
                label = "its k = 1" if other == run.method else method_label(other)
                plain = by_place.get((run.dataset, other, 1))
                # Where every row has the same risk, as in AC-TPC with one cluster: no yardstick.
                if plain and not (plain.per_split("auroc") == 0.5).all():
                    yield run, plain, f"{method_label(run.method)} − {label}"


def switch_effects(runs: Runs) -> pd.DataFrame:
    """Compare every run with one switch with the sound run of the same method, data set and k."""
    rows = []
    for label in switches():
        for run in usable(runs, label):
            sound = runs.find("sound", run.dataset, run.method, run.k)
            if sound is not None and sound.status == "ok":
                rows += compare_runs(run, sound, label, METRICS)
    return adjusted(rows)
