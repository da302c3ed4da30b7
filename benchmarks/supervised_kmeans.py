"""Similarities, Psi and the separation oracle against the plain pairwise way, as ratios.

    python benchmarks/supervised_kmeans.py

Generated documents of WebKB-N's size: 1,041 pages, 41,131 words, word frequencies by Zipf's law.
The plain way holds a feature vector for every pair; here it makes those of one page after the
other, for every twentieth page.
"""

import time

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from deepcac.similarity import ItemSet, indicator
from deepcac.similarity.clusterers import iterative, spectral
from deepcac.similarity.separation import loss_augmented

PAGES, WORDS, CLUSTERS, LENGTH, EVERY = 1041, 41_131, 6, 250, 20


def documents(seed=0):
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, WORDS + 1)
    drawn = rng.choice(WORDS, PAGES * LENGTH, p=chance / chance.sum())
    X = sparse.coo_array((np.ones(len(drawn)), (np.repeat(np.arange(PAGES), LENGTH), drawn)))
    X = sparse.csr_array(X, shape=(PAGES, WORDS))
    X.resize((PAGES, WORDS))
    return X, rng.integers(0, CLUSTERS, PAGES), rng.normal(size=WORDS) / LENGTH


def best(action, repeats=5):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def plain_similarity(X, weights):
    return [sparse.csr_array(X.multiply(X[[i]])) @ weights for i in range(0, PAGES, EVERY)]


def plain_psi(X, labels):
    share = 1.0 / np.bincount(labels)[labels]
    total = np.zeros(X.shape[1])
    for i in range(0, PAGES, EVERY):
        total += (share * (labels == labels[i])) @ sparse.csr_array(X.multiply(X[[i]]))
    return total


def plain_climb(K, labels):
    """Point-incremental k-means that adds up the objective anew for every move it tries."""

    def value(found):
        Y = indicator(found)
        return ((K @ Y) * Y).sum()

    here, moved = value(labels), True
    while moved:
        moved = False
        for i in range(len(labels)):
            for c in range(CLUSTERS):
                trial = labels.copy()
                trial[i] = c
                if len(set(trial)) == CLUSTERS and (there := value(trial)) > here + 1e-9:
                    labels, here, moved = trial, there, True
    return labels


def report(what, slow, fast):
    print(f"{what}: {slow * 1e3:,.1f} ms / {fast * 1e3:.1f} ms = {slow / fast:,.0f}", flush=True)


def main():
    X, labels, weights = documents()
    items, truth = ItemSet(X), indicator(labels)
    items.similarity(weights)  # compiles
    report(
        "similarity, pair by pair / ours",
        EVERY * best(lambda: plain_similarity(X, weights), 1),
        best(lambda: items.similarity(weights)),
    )
    report(
        "Psi, pair by pair / ours",
        EVERY * best(lambda: plain_psi(X, labels), 1),
        best(lambda: items.psi(truth)),
    )
    K = loss_augmented(items.similarity(weights), truth)
    start = spectral(loss_augmented(items.similarity(1.01 * weights), truth), CLUSTERS)
    lapack = best(lambda: eigh(K, subset_by_index=[PAGES - CLUSTERS, PAGES - 1]), 2)
    report(
        "Spectral oracle, LAPACK / ours",
        lapack,
        best(lambda: spectral(K, CLUSTERS, start=start)),
    )
    small = K[:60, :60]
    iterative(small, CLUSTERS, np.random.default_rng(0))  # compiles
    first = np.random.default_rng(0).permutation(np.arange(60) % CLUSTERS)
    report(
        "Iterative oracle of 60 items, one start, plain NumPy / ours",
        best(lambda: plain_climb(small, first), 1),
        best(lambda: iterative(small, CLUSTERS, np.random.default_rng(0), n_restarts=100)) / 100,
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
