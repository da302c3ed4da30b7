"""How the time of CAC grows with rows, features, clusters and alphas: fitted exponents.

    python benchmarks/cac_growth.py

One quantity is doubled at a time, the others stay; at most three passes of prepared rows on
one thread, by processor time a pass. A pass of O(n d k) asks for 1 or less.
"""

import numpy as np
from cac_pass import best, cohort
from threadpoolctl import threadpool_limits

from deepcac.cac import cluster
from deepcac.cac.kernels.rows import prepare
from deepcac_study.experiments.theory.bounds import growth_exponent

BASE = {"n": 40_000, "d": 20, "k": 3, "alphas": 1}
GROWN = {
    "n": (20_000, 40_000, 80_000, 160_000, 320_000),
    "d": (10, 20, 40, 80, 160),
    "k": (2, 4, 8, 16),
    "alphas": (1, 2, 4, 8),
}
ALPHA = 0.1


def seconds(n, d, k, alphas):
    """Return the processor time of one pass for each of some alphas, recount included."""
    X, y, start = cohort(n, d, k)
    rows = prepare(X)
    grid = ALPHA * np.linspace(0.9, 1.1, alphas)

    def run():
        return [cluster(rows, y, start, alpha, max_iter=3).n_iter for alpha in grid]

    return best(run, 7) / np.mean(run())


def main():
    print("grown | values | milliseconds | exponent")
    for name, values in GROWN.items():
        times = [seconds(**(BASE | {name: value})) for value in values]
        exponent = growth_exponent(np.array(values, float), np.array(times))
        shown = " ".join(f"{1e3 * each:.1f}" for each in times)
        print(f"{name} | {' '.join(map(str, values))} | {shown} | {exponent:.2f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
