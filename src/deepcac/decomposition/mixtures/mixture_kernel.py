"""Compiled steps of the mixture: the k-means start, expectation and maximisation.

Numbers are (n, p); codes are (n, q) with the offset of their column added, so that the levels of
all nominal columns share one axis of length L. Parameters have the clusters on the last axis, so
that the inner loops run over contiguous memory.
"""

from functools import partial
from typing import Any

import numpy as np

from deepcac.compilation import njit

compiled = partial(njit, nogil=True, error_model="numpy")

SMALLEST_SD = 1e-6
_LOG_2PI = np.log(2.0 * np.pi)
_LEAST_WEIGHT = 1e-300  # of a cluster that no row belongs to


@compiled()
def distances(numbers: Any, codes: Any, i: int, centres: Any, modes: Any, gaps: Any) -> None:
    """Fill `gaps` (k,) with the squared distances of row i; a level that differs counts 1."""
    gaps[:] = 0.0
    for f in range(numbers.shape[1]):
        for j in range(gaps.shape[0]):
            gap = numbers[i, f] - centres[f, j]
            gaps[j] += gap * gap
    for f in range(codes.shape[1]):
        for j in range(gaps.shape[0]):
            gaps[j] += 1.0 if codes[i, f] != modes[f, j] else 0.0


@compiled()
def first_centres(numbers: Any, codes: Any, order: Any, centres: Any, modes: Any, gaps: Any) -> Any:
    """Fill the centres with the first distinct rows in `order`; return their number."""
    n_centres, k = 0, gaps.shape[0]
    for i in order:
        distances(numbers, codes, i, centres[:, :n_centres], modes[:, :n_centres], gaps[:n_centres])
        if n_centres == 0 or gaps[:n_centres].min() > 0.0:
            centres[:, n_centres] = numbers[i]
            modes[:, n_centres] = codes[i]
            n_centres += 1
            if n_centres == k:
                break
    return n_centres


@compiled()
def assign(numbers: Any, codes: Any, centres: Any, modes: Any, gaps: Any, labels: Any) -> Any:
    """Assign rows to the nearest centre; return the changed labels and the sum of distances."""
    moves, total = 0, 0.0
    for i in range(labels.shape[0]):
        distances(numbers, codes, i, centres, modes, gaps)
        nearest, least = 0, gaps[0]
        for j in range(1, gaps.shape[0]):
            if gaps[j] < least:
                nearest, least = j, gaps[j]
        if labels[i] != nearest:
            labels[i] = nearest
            moves += 1
        total += least
    return moves, total


@compiled()
def recentre(
    numbers: Any, codes: Any, starts: Any, labels: Any, centres: Any, modes: Any, count: Any
) -> None:
    """Set each centre to the mean and the most frequent levels of its rows; `count` is (k, L)."""
    p, q, k = numbers.shape[1], codes.shape[1], count.shape[0]
    sizes = np.zeros(k)
    sums = np.zeros((p, k))
    count[:] = 0.0
    for i in range(labels.shape[0]):
        j = labels[i]
        sizes[j] += 1.0
        for f in range(p):
            sums[f, j] += numbers[i, f]
        for f in range(q):
            count[j, codes[i, f]] += 1.0
    for j in range(k):
        if sizes[j] == 0.0:
            continue
        for f in range(p):
            centres[f, j] = sums[f, j] / sizes[j]
        for f in range(q):
            modes[f, j] = starts[f] + np.argmax(count[j, starts[f] : starts[f + 1]])


@compiled()
def start_labels(
    numbers: Any, codes: Any, starts: Any, orders: Any, k: int, passes: int, best: Any
) -> None:
    """Fill `best` (n,) with the labels of the k-means run of least cost, one run per order.

    Parameters
    ----------
    numbers, codes : arrays of shape (n, p) and (n, q)
        Numbers scaled to [0, 1].
    starts : array of shape (q + 1,)
        First level of each nominal column, and L.
    orders : array of shape (r, n)
        Orders of the rows; each run starts from the first k distinct rows.
    k, passes : int
        Clusters, fewer if there are fewer distinct rows, and the most passes of a run.
    best : array of shape (n,), int64
        Receives the labels.
    """
    centres, modes = np.empty((numbers.shape[1], k)), np.empty((codes.shape[1], k), np.int64)
    k = first_centres(numbers, codes, orders[0], centres, modes, np.empty(k))
    centres, modes = np.empty((numbers.shape[1], k)), np.empty((codes.shape[1], k), np.int64)
    gaps, count, labels = np.empty(k), np.empty((k, starts[-1])), np.empty_like(best)
    least = np.inf
    for r in range(orders.shape[0]):
        first_centres(numbers, codes, orders[r], centres, modes, gaps)
        labels[:] = -1
        cost = np.inf
        for _ in range(passes):
            moves, cost = assign(numbers, codes, centres, modes, gaps, labels)
            if moves == 0:
                break
            recentre(numbers, codes, starts, labels, centres, modes, count)
        if cost < least:
            least = cost
            best[:] = labels


@compiled()
def expect(
    numbers: Any, codes: Any, log_weight: Any, mean: Any, sd: Any, log_share: Any, posterior: Any
) -> Any:
    """Fill the posterior (n, k) of the clusters; return the mean log-likelihood of a row."""
    n, p, q, k = numbers.shape[0], numbers.shape[1], codes.shape[1], log_weight.shape[0]
    base = log_weight - 0.5 * p * _LOG_2PI
    precision = np.empty((p, k))
    for f in range(p):
        for j in range(k):
            base[j] -= np.log(sd[f, j])
            precision[f, j] = 1.0 / sd[f, j]
    total = 0.0
    value = np.empty(k)
    for i in range(n):
        value[:] = 0.0
        for f in range(p):
            for j in range(k):
                z = (numbers[i, f] - mean[f, j]) * precision[f, j]
                value[j] -= 0.5 * z * z
        for f in range(q):
            level = codes[i, f]
            for j in range(k):
                value[j] += log_share[level, j]
        top = -np.inf
        for j in range(k):
            value[j] += base[j]
            top = max(top, value[j])
        mass = 0.0
        for j in range(k):
            posterior[i, j] = np.exp(value[j] - top)
            mass += posterior[i, j]
        for j in range(k):
            posterior[i, j] /= mass
        total += top + np.log(mass)
    return total / n


@compiled()
def tally(
    numbers: Any, codes: Any, posterior: Any, weight: Any, mean: Any, sd: Any, share: Any
) -> None:
    """Fill weights (k,), means (p, k), sums of squared gaps (p, k), and level counts from 1."""
    n, k = posterior.shape
    weight[:] = 0.0
    mean[:] = 0.0
    sd[:] = 0.0
    share[:] = 1.0
    for i in range(n):
        for j in range(k):
            weight[j] += posterior[i, j]
        for f in range(numbers.shape[1]):
            for j in range(k):
                mean[f, j] += posterior[i, j] * numbers[i, f]
        for f in range(codes.shape[1]):
            level = codes[i, f]
            for j in range(k):
                share[level, j] += posterior[i, j]
    for j in range(k):
        weight[j] = max(weight[j], _LEAST_WEIGHT)
    for f in range(numbers.shape[1]):
        for j in range(k):
            mean[f, j] /= weight[j]
    for i in range(n):
        for f in range(numbers.shape[1]):
            for j in range(k):
                gap = numbers[i, f] - mean[f, j]
                sd[f, j] += posterior[i, j] * gap * gap


@compiled()
def maximise(
    numbers: Any,
    codes: Any,
    starts: Any,
    posterior: Any,
    column_sd: Any,
    parameters: Any,
) -> None:
    """Fill `parameters` of a mixture from the posterior.

    A deviation that vanishes is replaced by that of the whole column (`column_sd`, at least
    1e-6); shares of levels start their counts at 1.
    """
    n, k = posterior.shape
    weight = np.empty(k)
    log_weight, mean, sd, log_share = parameters
    tally(numbers, codes, posterior, weight, mean, sd, log_share)
    for j in range(k):
        log_weight[j] = np.log(weight[j] / n)
    for f in range(numbers.shape[1]):
        for j in range(k):
            value = np.sqrt(sd[f, j] / weight[j])
            sd[f, j] = value if value > SMALLEST_SD else column_sd[f]
    for f in range(codes.shape[1]):
        for level in range(starts[f], starts[f + 1]):
            for j in range(k):
                room = weight[j] + (starts[f + 1] - starts[f])
                log_share[level, j] = np.log(log_share[level, j] / room)
