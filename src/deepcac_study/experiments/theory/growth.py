"""How the work of CAC's first pass grows with rows, features and clusters (Theorem 3 of CAC v1).

The work is counted, so that a claim never hangs on a clock; the time is there beside it.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from deepcac.cac.cluster import cluster
from deepcac.types import Array, Ids
from deepcac_study.experiments.theory import bounds

ALPHA = 0.05  # of the clusters that the bounds are evaluated in
SIZES = (1000, 2000, 4000, 8000)  # within the processor's cache, so that the curve has no kink
TIMED_ROWS = 8000
TIMED_KS = (2, 4, 8, 16)
SHARES = (0.125, 0.25, 0.5, 1.0)
_REPEATS = 5


def growth(
    X: Array,
    y: Ids,
    k: int,
    work: Callable[[Array, Ids, Ids, int], float],
    *,
    sizes: Sequence[int] = SIZES,
    ks: Sequence[int] = TIMED_KS,
    rows: int = TIMED_ROWS,
) -> dict[str, float]:
    """Return the exponents of the work of a first pass in n, d and k, by `operations` or `seconds`.

    Rows are taken in turn, over again where there are fewer than asked for. The labels at the start
    are random, so that every row is looked at and most rows move.
    """

    def of(n: int, d: int, clusters: int) -> float:
        chosen = np.arange(n) % len(X)
        labels = np.random.default_rng(0).integers(0, clusters, n)
        return work(np.ascontiguousarray(X[chosen, :d]), y[chosen], labels, clusters)

    d = X.shape[1]
    widths = sorted({max(1, round(share * d)) for share in SHARES})
    curves = {
        "n": [(n, of(n, d, k)) for n in sizes],
        "d": [(width, of(rows, width, k)) for width in widths],
        "k": [(clusters, of(rows, d, clusters)) for clusters in ks],
    }
    return {name: bounds.growth_exponent(*np.array(curve).T) for name, curve in curves.items()}


def seconds(X: Array, y: Ids, labels: Ids, k: int) -> float:
    """Return the least of a few times of a first pass."""
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        cluster(X, y, labels, ALPHA, max_iter=1, n_clusters=k)
        times.append(time.perf_counter() - begin)
    return min(times)


def operations(X: Array, y: Ids, labels: Ids, k: int) -> float:
    """Return the multiplications and additions of a first pass, from the moves that it made.

    Counted are those of the plain pass, which looks at every row; bounds that spare some of them
    (`deepcac.cac.kernels.kernel`) change no move. As each row is looked at once, the labels before
    and after tell all that the pass did: k dot products a row; the weights of a class anew where a
    move changed a cluster; class sums and their products for each move. The last row of a class
    in its cluster is passed over.
    """
    after = cluster(X, y, labels, ALPHA, max_iter=1, n_clusters=k).labels
    n_classes = int(y.max()) + 1
    counts = np.zeros((k, n_classes), dtype=np.int64)
    np.add.at(counts, (labels, y), 1)
    stale = [set(range(k)) for _ in range(n_classes)]
    products = 0
    for c, p, q in zip(y.tolist(), labels.tolist(), after.tolist(), strict=True):
        if counts[p, c] == 1:
            continue
        for j in stale[c]:
            products += n_classes * (1 + int(counts[j, c] >= 2))
        stale[c].clear()
        products += k
        if p != q:
            counts[p, c] -= 1
            counts[q, c] += 1
            products += 2 + 2 * n_classes
            for stale_clusters in stale:
                stale_clusters |= {p, q}
    return float(2 * X.shape[1] * products)
