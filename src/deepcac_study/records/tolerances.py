"""Tolerances between a repeat's score and the shipped one, by family of methods and metric.

The table is ``docs/results/tolerances.csv``; ``benchmarks/cpu_repeats.py`` has its rule. Scores
counted from labels may always differ by one row of the smallest test part.
"""

import csv
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from deepcac.errors import ConfigError
from deepcac.judging.contenders import parse_contender
from deepcac.types import Floats
from deepcac_study.catalogue.methods import methods
from deepcac_study.records.repeated_values import Record, RepeatSeries, score_series

TOLERANCES = "tolerances.csv"
LEAST = 0.001  # a smaller forgery changes no verdict
LEAST_DEVIATION = 0.005  # three to five splits may lie close together by chance
COUNTED = ("accuracy", "f1", "min_se_pp")
METRICS = ("auroc", "auprc", "brier", "log_loss", *COUNTED)
OTHER = "other"
_METRIC_OF = {
    **{f"{metric}_macro": metric for metric in METRICS},
    **dict.fromkeys(("validation_accuracy", "error", "bias", "variance"), "accuracy"),
}


class Family(StrEnum):
    """Records whose repeats differ by similar amounts."""

    LINES = "linear classifiers"
    DISCRIMINANTS = "linear discriminants"
    TREES = "trees"
    NEIGHBOURS = "nearest neighbours"
    CLUSTERS = "CAC, k-means and other clusters"
    NETWORKS = "networks"
    PUBLISHED = "networks, as published"
    SEQUENCES = "networks on sequences"
    JUDGED = "judge"
    METRICS = "supervised k-means, by pairs"
    ORACLES = "supervised k-means, Iterative and Spectral"
    DECOMPOSITION = "class decomposition"
    THEOREMS = "theorems"


# A last digit sends a training another way.
BY_DEVIATION = (Family.NETWORKS, Family.PUBLISHED, Family.SEQUENCES)


class RepeatDifference(NamedTuple):
    """Difference of a score between a repeat and the shipped record, in a split or the mean."""

    family: Family
    metric: str
    part: str  # "split" or "mean"
    where: str
    shipped: float
    again: float
    size: float
    unit: float


# Of a split and of the mean by family and metric, in the unit of `RepeatDifference`.
Tolerances = Mapping[tuple[str, str], tuple[float, float]]


def family(path: str, record: Record) -> Family:
    """Return the family of the record at a path below ``results``."""
    if path.startswith("theory/"):
        return Family.THEOREMS
    if path.startswith("bias_variance/") or "decomposition/" in path:
        return Family.DECOMPOSITION
    if path.startswith("skmeans/"):
        return Family.METRICS if record.get("method") in ("none", "pair") else Family.ORACLES
    if "method" not in record:
        return _judged_family(str(record.get("contender", "")))
    method = methods()[record["method"]]
    if method.sequence:
        return Family.SEQUENCES
    if method.family == "deep":
        return Family.NETWORKS if record["protocol"] == "sound" else Family.PUBLISHED
    noise = Family[method.learner.noise.upper()]
    in_clusters_as_well = noise in (Family.NEIGHBOURS, Family.DISCRIMINANTS)
    return noise if in_clusters_as_well or method.arm == "base" else Family.CLUSTERS


def _judged_family(contender: str) -> Family:
    """Return the family of tolerances: networks, or other models of the study."""
    try:
        network = parse_contender(contender).network
    except ConfigError:  # a record that names no model
        network = False
    return Family.NETWORKS if network else Family.JUDGED


def repeat_differences(path: str, shipped: Record, again: Record) -> Iterator[RepeatDifference]:
    """Yield the largest difference over the splits and that of the mean, for each score."""
    kind = family(path, shipped)
    for series in score_series(shipped, again):
        start, _, rest = series.place.partition(".")
        several = start in ("contenders", "risks")  # of the judge, in one record
        own = _judged_family(rest.partition(".")[0]) if several else kind
        yield from _differences(own, series)


def _differences(kind: Family, series: RepeatSeries) -> Iterator[RepeatDifference]:
    """Yield the largest difference on one split and, if no value lacks, that of the means."""
    ours, theirs = series.shipped, series.again
    metric, units = metric_of(series.name), units_of(kind, theirs)
    lacking = np.isnan(ours) != np.isnan(theirs)
    sizes = np.where(lacking, np.inf, np.abs(ours - theirs))
    n = int(np.argmax(sizes / units))
    pair = float(ours[n]), float(theirs[n])
    where = f"{series.place}, split {n + 1}"
    yield RepeatDifference(kind, metric, "split", where, *pair, float(sizes[n]), float(units[n]))
    if not lacking.any():
        means = float(ours.mean()), float(theirs.mean())
        size, where = abs(means[0] - means[1]), f"{series.place}, mean"
        yield RepeatDifference(kind, metric, "mean", where, *means, size, float(units.mean()))


def metric_of(name: str) -> str:
    """Return the metric whose tolerance applies to a score: one of `METRICS`, or `OTHER`."""
    name = _METRIC_OF.get(name, name)
    return name if name in METRICS else OTHER


def units_of(kind: Family, again: Floats) -> Floats:
    """Return the unit of the difference in each split.

    For networks it is the standard deviation over the splits of the repeat, because that of a
    forged record could be anything; else 1, or the score itself if that is above 1.
    """
    there = again[~np.isnan(again)]
    if kind in BY_DEVIATION and len(there) > 1:
        return np.full(len(again), max(float(there.std(ddof=1)), LEAST_DEVIATION))
    return np.fmax(1.0, np.abs(again))


def allowed(one: RepeatDifference, tolerances: Tolerances, smallest_test: int) -> float:
    """Return the largest allowed difference, given the rows of the smallest test part."""
    split, mean = tolerances[one.family, one.metric]
    bound = one.unit * (split if one.part == "split" else mean)
    counted = one.metric in COUNTED and smallest_test > 0
    # A hair more: one row of three is a third but for its last digit.
    return max(bound, (1 + 1e-9) / smallest_test) if counted else bound


def read_tolerances(path: str | os.PathLike[str]) -> Tolerances:
    """Read the table of tolerances."""
    with open(path, encoding="utf-8", newline="") as file:
        return {
            (row["family"], row["metric"]): (float(row["split"]), float(row["mean"]))
            for row in csv.DictReader(file)
        }
