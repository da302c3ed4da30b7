from importlib import import_module

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from deepcac import threads
from deepcac.threads import few_threads


def most_threads():
    return max(library["num_threads"] for library in threadpool_info())


@pytest.mark.parametrize(("rows", "clusters", "inside"), [(50, 2, 1), (50, 100, 2), (600, 2, 2)])
def test_work_up_to_a_size_has_one_thread_and_larger_work_as_many_as_before(
    rows, clusters, inside, monkeypatch
):
    monkeypatch.setattr(threads, "SMALL", 1000)
    with threadpool_limits(2):
        with few_threads(np.zeros((rows, 2)), clusters):
            assert most_threads() == inside
        assert most_threads() == 2


def test_the_k_means_of_a_small_table_has_one_thread(monkeypatch):
    seen = []

    class KMeans:
        labels_ = np.zeros(4)

        def __init__(self, **parameters):
            pass

        def fit(self, X):
            seen.append(most_threads())
            return self

    cluster = import_module("deepcac.cac.cluster")  # the package has a function of this name
    monkeypatch.setattr(cluster, "KMeans", KMeans)
    with threadpool_limits(2):
        cluster.kmeans_labels(np.zeros((4, 1)), 2, 0)
    assert seen == [1]
