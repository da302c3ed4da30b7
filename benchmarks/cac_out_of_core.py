"""CAC on more rows than memory may hold: rows in files, memory bounded by the kernel.

    python benchmarks/cac_out_of_core.py --rows 10000000 --folder /big/disk

Rows (20 columns, those of `cac_pass.py`) are written to a memory-mapped file piece by piece, then
clustered with private memory limited to `--memory` MB (RLIMIT_DATA: an allocation beyond it fails).
Pages of files do not count: the kernel drops them when it needs room. With `--held` the same rows
are clustered in memory too, and the labels compared.
"""

import argparse
import resource
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from deepcac.cac import cluster
from deepcac.cac.kernels.rows import prepare

COLUMNS, CLUSTERS, ALPHA, PIECE = 20, 3, 0.5, 500_000


def write(path, n, seed=0):
    """Write rows as `cac_pass.cohort` makes them; return them, classes and k-means labels."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=1.5, size=(2 * CLUSTERS, COLUMNS))
    X = np.memmap(path, dtype=np.float64, mode="w+", shape=(n, COLUMNS))
    y, labels, model = np.empty(n, np.int8), np.empty(n, np.int8), None
    for first in range(0, n, PIECE):
        part = slice(first, min(first + PIECE, n))
        which = rng.integers(0, 2 * CLUSTERS, part.stop - first)
        X[part] = centres[which] + rng.normal(size=(len(which), COLUMNS))
        y[part] = rng.random(len(which)) < np.where(which % 2 == 0, 0.1, 0.3)
        if model is None:
            model = KMeans(CLUSTERS, n_init=1, random_state=seed).fit(X[:20_000])
        labels[part] = model.predict(X[part])
    X.flush()
    return np.memmap(path, dtype=np.float64, mode="r", shape=(n, COLUMNS)), y, labels


class Peak:
    """Largest private memory (RssAnon) of this process while the block runs, in MB."""

    def __enter__(self):
        self.largest, self._end = 0.0, threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._watch.join()

    def _look(self):
        while not self._end.wait(0.02):
            status = Path("/proc/self/status").read_text()
            line = next(each for each in status.splitlines() if each.startswith("RssAnon"))
            self.largest = max(self.largest, int(line.split()[1]) / 1024)


def clustered(X, y, labels, scratch, passes):
    """Cluster, print seconds and memory, and return what was found."""
    with Peak() as peak:
        begin, worked = time.perf_counter(), time.thread_time()
        rows = prepare(X, scratch)
        ready = time.perf_counter() - begin
        found = cluster(rows, y, labels, ALPHA, max_iter=passes)
        seconds, worked = time.perf_counter() - begin, time.thread_time() - worked
    where = "files" if scratch else "memory"
    print(
        f"{len(y):,} x {COLUMNS}, rows in {where}: laid out in {ready:.1f} s, "
        f"{found.n_iter} passes, "
        f"{(seconds - ready) / found.n_iter:.2f} s each ({worked:.1f} s of one core in all), "
        f"{int(found.moves.sum()):,} moves, private memory {peak.largest:.0f} MB "
        f"({peak.largest * 2**20 / len(y):.0f} bytes a row)",
        flush=True,
    )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", type=int, default=1500, help="limit of private memory, MB")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--held", action="store_true", help="compare with rows in memory")
    arguments = parser.parse_args()
    path = arguments.folder / "rows.bin"
    warm = np.random.default_rng(0).normal(size=(1000, COLUMNS))  # compiles
    cluster(prepare(warm), np.arange(1000) % 2, np.arange(1000) % CLUSTERS, ALPHA)
    try:
        X, y, labels = write(path, arguments.rows)
        resource.setrlimit(resource.RLIMIT_DATA, (arguments.memory << 20, resource.RLIM_INFINITY))
        found = clustered(X, y, labels, arguments.folder, arguments.passes)
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
        if arguments.held:
            held = clustered(np.array(X), y, labels, None, arguments.passes)
            print("same labels:", np.array_equal(found.labels, held.labels))
    finally:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
