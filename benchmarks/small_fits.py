"""Fits on one thread and on all, in turns, alone and beside neighbours that keep every core busy.

usage: python benchmarks/small_fits.py [TABLE]

Prints the median seconds of each, and writes them to a table if one is named.
"""

import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from deepcac import CACClassifier, threads

SHAPES = ((300, 10, 2), (1400, 20, 2), (5000, 20, 3), (20_000, 20, 5))
TURNS = 3


def spin() -> None:
    while True:
        pass


@contextmanager
def neighbours(number: int) -> Iterator[None]:
    """Keep so many cores busy inside the block."""
    others = [multiprocessing.Process(target=spin, daemon=True) for _ in range(number)]
    for other in others:
        other.start()
    yield
    for other in others:
        other.kill()


def seconds(n: int, d: int, k: int, small: int) -> float:
    """Return how long a fit takes if work up to `small` has one thread."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 3.0 * (np.arange(n) % k)[:, None]
    y = rng.random(n) < 0.4
    threads.SMALL = small
    begin = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):
        CACClassifier(n_clusters=k, random_state=0).fit(X, y)
    return time.perf_counter() - begin


def main() -> None:
    cores, rows = os.cpu_count() or 1, []
    seconds(300, 10, 2, 0)  # compiles
    for beside in (0, cores):
        with neighbours(beside):
            for n, d, k in SHAPES:
                times = [(seconds(n, d, k, n * d * k), seconds(n, d, k, 0)) for _ in range(TURNS)]
                one, all_ = np.median(times, axis=0).round(3)
                load = round(os.getloadavg()[0], 1)
                rows.append((cores, beside, load, n, d, k, one, all_))
    names = ("cores", "neighbours", "load", "rows", "columns", "clusters", "one_s", "all_s")
    table = pd.DataFrame(rows, columns=list(names))
    print(table.to_string(index=False))
    if len(sys.argv) > 1:
        table.to_csv(sys.argv[1], index=False)


if __name__ == "__main__":
    main()
