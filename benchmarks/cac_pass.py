"""The CAC pass against its yardsticks, measured side by side on one thread.

    python benchmarks/cac_pass.py passes        # one pass / one product X @ [P; N]^T
    python benchmarks/cac_pass.py convergence   # seconds of the NumPy reference / ours
    python benchmarks/cac_pass.py growth        # exponent of time over n, peak memory

A pass is timed from k-means labels (some rows move) and from converged labels (none does),
scoring every row; the later passes of a real run leave out blocks and are cheaper. Times are
processor time of the one thread that works, so that other work on the machine weighs less.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from deepcac.cac import cluster
from deepcac.cac.cluster import lay_out_cells
from deepcac.cac.kernels.kernel import sweep
from deepcac.cac.kernels.rows import prepare
from deepcac.cac.kernels.state import allocate, recount
from deepcac_study.experiments.theory.bounds import growth_exponent

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

REPEATS = 7


def cohort(n, d, k, seed=0):
    """Rows around 2 k centres, classes that depend on the centre, k-means labels."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=1.5, size=(2 * k, d))
    which = rng.integers(0, 2 * k, n)
    X = centres[which]
    X += rng.normal(size=(n, d))
    y = (rng.random(n) < np.where(which % 2 == 0, 0.1, 0.3)).astype(np.int64)
    model = KMeans(k, n_init=1, random_state=seed).fit(X[:20_000])
    return X, y, model.predict(X).astype(np.int64)


def best(action, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        action()
        times.append(time.thread_time() - start)
    return min(times)


def one_pass(X, y, start, k, alpha):
    """Return the best seconds of a pass that scores every row, and its moves."""
    rows, times = prepare(X), []
    for _ in range(REPEATS):
        cells, state = lay_out_cells(y, start, k, rows), allocate(rows.blocks, k, 2)
        recount(rows.X, cells.ravel(), state)
        begin = time.thread_time()
        moves = sweep(rows, cells, state, alpha, True)
        times.append(time.thread_time() - begin)
    return min(times), moves


def passes():
    shapes = [(12_000, 117, 2), (100_000, 100, 3), (70_000, 9, 2), (30_000, 14, 2)]
    shapes += [(2_000, 117, 2), (2_000, 20, 2)]
    shapes += [(1_000_000, 20, k) for k in (2, 3, 5, 10)]
    print(
        "n d k alpha | BLAS ms | pass/BLAS (moves) from k-means | pass/BLAS converged | call/BLAS"
    )
    for n, d, k in shapes:
        X, y, start = cohort(n, d, k)
        weights = np.random.default_rng(0).normal(size=(2 * k, d))
        for alpha in (0.05, 0.5):
            done = cluster(X, y, start, alpha, max_iter=300)
            product = best(lambda X=X, w=weights: X @ w.T)
            first, moves = one_pass(X, y, start, k, alpha)
            last, _ = one_pass(X, y, done.labels, k, alpha)
            whole = best(lambda a=(X, y, start, alpha): cluster(*a, max_iter=300), 1)
            print(
                f"{n:>9,} {d:>3} {k:>2} {alpha:.2f} | {product * 1e3:8.2f} | "
                f"{first / product:5.2f} ({moves:,}) | {last / product:5.2f} | "
                f"{whole / product / done.n_iter:5.2f} a pass, {done.n_iter} passes",
                flush=True,
            )


def convergence():
    import cac_reference as reference

    print("n d k alpha | reference s | ours s | ratio | same labels and moves")
    for n, d, k in ((2_000, 117, 2), (1_000, 20, 3)):
        X, y, start = cohort(n, d, k)
        cluster(X, y, start, 0.05)
        begin = time.thread_time()
        labels, moves, _ = reference.cluster(X, y, start, 0.05, k)
        slow = time.thread_time() - begin
        fast = best(lambda a=(X, y, start, 0.05): cluster(*a))
        found = cluster(X, y, start, 0.05)
        same = np.array_equal(found.labels, labels) and found.moves.tolist() == moves
        print(f"{n:,} {d} {k} 0.05 | {slow:.2f} | {fast:.5f} | {slow / fast:,.0f} | {same}")


def growth(largest):
    sizes = [largest // 16, largest // 8, largest // 4, largest // 2, largest]
    X, y, start = cohort(largest, 20, 3)
    seconds = []
    for n in sizes:
        part = (X[:n], y[:n], start[:n], 0.05)
        cluster(*(each[:1000] for each in part[:3]), 0.05)
        seconds.append(best(lambda part=part: cluster(*part, max_iter=5), 2))
        print(f"{n:>11,} x 20, k = 3, 5 passes: {seconds[-1]:.3f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    exponent = growth_exponent(np.array(sizes), np.array(seconds))
    print(f"exponent {exponent:.3f}, peak memory of the process {peak:.2f} GiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("passes", "convergence", "growth"))
    parser.add_argument("--rows", type=int, default=10_000_000, help="largest n of growth")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.part == "growth":
            growth(arguments.rows)
        else:
            {"passes": passes, "convergence": convergence}[arguments.part]()
