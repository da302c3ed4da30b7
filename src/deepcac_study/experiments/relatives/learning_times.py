"""Training times of supervised k-means on Synth (Finley and Joachims 2008, 6.4, Figures 1 to 4).

One of n, k, N and m / k is varied at a time. The paper gives the default values (n = 5 clusterings,
k = 5, N = 750, m = 100), C = 1e4 and 20 training sets, but neither the ranges nor the precision.
"""

import os
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deepcac.files.storage import write_json
from deepcac.similarity import SupervisedKMeans
from deepcac_study.catalogue.config import ITERATIVE, SPECTRAL
from deepcac_study.experiments.relatives.example_clusterings import Examples, examples
from deepcac_study.records.record import machine
from deepcac_study.simulate.synth_pairs import synth_pairs

# At a precision of 1 Spectral runs for thousands of passes, at 10 (of losses up to 100) it ends.
C, EPSILON, MAX_PASSES = 1e4, 10.0, 300
CLUSTERINGS, CLUSTERS, FEATURES, ITEMS = 5, 5, 750, 100
# What each figure changes, and its values; the numbers of clusters divide the number of items.
RANGES: dict[str, tuple[int, ...]] = {
    "clusterings": (2, 4, 6, 8, 10),
    "clusters": (2, 4, 5, 10),
    "features": (375, 750, 1500, 3000),
    "points": (5, 10, 20, 40),
}


class Point(NamedTuple):
    """One setting: the figure's axis, its value, and the arguments of the generator."""

    axis: str
    value: int
    arguments: dict[str, int]


def points() -> Iterator[Point]:
    """Yield the settings of Figures 1 to 4.

    The number of features per region is chosen so that N is close to the value wanted.
    """
    for axis, values in RANGES.items():
        for value in values:
            k = value if axis == "clusters" else CLUSTERS
            N = value if axis == "features" else FEATURES
            arguments = {
                "clusterings": value if axis == "clusterings" else CLUSTERINGS,
                "clusters": k,
                "points": value if axis == "points" else ITEMS // k,
                "region": round(N / (k * (k + 1) / 2)),
            }
            yield Point(axis, value, arguments)


def learning_times(n_sets: int) -> list[dict[str, Any]]:
    """Train on `n_sets` sets at each point with each oracle; return a row per training.

    Keys: ``axis``, ``value``, ``oracle``, ``set``; ``n_iter``, ``n_cuts``, ``n_oracle_calls``,
    ``converged``; ``seconds`` (processor time, in total) and ``oracle_seconds`` and
    ``slowest_call`` (wall time).
    """
    # The first training of a process also loads compiled code.
    _train(examples(synth_pairs(clusterings=2, points=2)), ITERATIVE, 0)
    return [
        {"axis": point.axis, "value": point.value, "oracle": oracle, "set": number}
        | _train(cases, oracle, number)
        for point in points()
        for number in range(n_sets)
        for cases in [examples(synth_pairs(**point.arguments, seed=number))]
        for oracle in (ITERATIVE, SPECTRAL)
    ]


def _train(cases: Examples, oracle: str, seed: int) -> dict[str, Any]:
    """Fit on the examples; return passes, oracle calls and CPU seconds."""
    model = SupervisedKMeans(
        C=C,
        oracle=oracle,  # type: ignore[arg-type]
        epsilon=EPSILON,
        max_iter=MAX_PASSES,
        random_state=seed,
    )
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the row says it
        model.fit(cases.item_sets, cases.clusterings)
    seconds = time.process_time() - begin
    return {
        "n_iter": model.n_iter_,
        "n_cuts": model.n_cuts_,
        "n_oracle_calls": model.n_oracle_calls_,
        "converged": model.converged_,
        "seconds": round(seconds, 4),
        "oracle_seconds": round(float(np.sum(model.oracle_seconds_)), 4),
        "slowest_call": round(float(np.max(model.oracle_seconds_)), 5),
    }


def write_times(path: str | os.PathLike[str], n_sets: int) -> None:
    """Run `learning_times` and write the rows with the settings as JSON."""
    begin = time.perf_counter()
    rows = learning_times(n_sets)
    setting = {"C": C, "epsilon": EPSILON, "max_iter": MAX_PASSES, "n_sets": n_sets}
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**setting, "rows": rows, "machine": machine(seconds, 1, "cpu")})
