"""Clusters that are classes in disguise, however rare a class is and however many there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from deepcac.cac.collapse import COLLAPSED, collapsed, disguise

COLLAPSED_COUNTS = {
    "balanced": [[50, 0], [0, 50]],
    "one row of each class is held": [[1, 239], [5759, 1]],
    "one per cent": [[1, 99], [9899, 1]],
    "few rows": [[1, 29], [169, 1]],
    "two clusters of three classes": [[50, 1, 1], [1, 50, 50]],
    "three clusters of two classes": [[50, 1], [50, 1], [1, 100]],
}
SOUND_COUNTS = {
    "one cluster": [[850, 150]],
    "one class": [[80], [20]],
    "shares alike": [[425, 75], [425, 75]],
    "twice the risk": [[400, 100], [450, 50]],
    "an odd row of the rare class": [[99, 0], [0, 1]],
    "an odd row of the other": [[5000, 900], [1, 0]],
    "nine in ten": [[90, 10], [10, 90]],
    "a third class is shared": [[50, 0, 40], [0, 50, 40]],
}


@pytest.mark.parametrize("counts", COLLAPSED_COUNTS.values(), ids=COLLAPSED_COUNTS)
def test_classes_in_disguise_are_flagged(counts):
    assert collapsed(counts)


@pytest.mark.parametrize("counts", SOUND_COUNTS.values(), ids=SOUND_COUNTS)
def test_subtypes_are_not(counts):
    assert not collapsed(counts)


def test_the_threshold_means_what_its_comment_says():
    def share_wrong(rare, wrong, n=1_000_000):
        size = round(rare * n)
        half = round(wrong * n / 2)
        return disguise([[half, size - half], [n - size - half, half]])

    assert share_wrong(0.5, 0.0125) > COLLAPSED > share_wrong(0.5, 0.0135)
    assert share_wrong(0.05, 0.0028) > COLLAPSED > share_wrong(0.05, 0.0036)


@given(st.lists(st.lists(st.integers(1, 40), min_size=3, max_size=3), min_size=2, max_size=4))
def test_it_is_mutual_information_over_the_smaller_entropy(rows):
    counts = np.array(rows)
    less = counts - 1
    cluster, label = (np.repeat(ids.ravel(), less.ravel()) for ids in np.indices(less.shape))
    if not less.any():
        assert disguise(counts) == 0.0
        return
    least = min(mutual_info_score(ids, ids) for ids in (cluster, label))
    expected = mutual_info_score(cluster, label) / least if least > 1e-12 else 0.0
    assert disguise(counts) == pytest.approx(expected, abs=1e-9)
    assert disguise(counts) == pytest.approx(disguise(counts.T), abs=1e-9)
