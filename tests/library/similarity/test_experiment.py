"""Leaving one clustering out: which models are trained, and what is chosen."""

from itertools import combinations

import numpy as np
import pytest

from deepcac.errors import DataError
from deepcac.similarity import EqualWeights, ItemSet, SupervisedKMeans
from deepcac.similarity.weighted import SimilarityClusterer
from deepcac_study.experiments.relatives.leave_one_out import leave_one_out, powers_of_ten

SETS = [ItemSet(np.full((2, 1), float(i))) for i in range(4)]
TRUTHS = [[0, 1]] * 4
# Loss of the model of C on the set i by each predictor: discrete is best at C = 10, but on the
# test sets 0 and 1 alone iterative at C = 1 would be.
LOSSES = {
    (1.0, "iterative"): [0.0, 0.0, 90.0, 90.0],
    (1.0, "discrete"): [50.0, 50.0, 50.0, 50.0],
    (10.0, "iterative"): [60.0, 60.0, 60.0, 60.0],
    (10.0, "discrete"): [40.0, 20.0, 20.0, 20.0],
}


class Told(SimilarityClusterer):
    """A model whose losses are written above; it remembers what it was trained on."""

    trained: list[tuple[float, tuple[int, ...]]] = []  # noqa: RUF012

    def __init__(self, C=1.0, predictor="iterative"):
        self.C = C
        self.predictor = predictor

    def fit(self, item_sets, clusterings):
        self.trained.append((self.C, tuple(SETS.index(x) for x in item_sets)))
        return self

    def loss(self, item_set, clustering):
        return LOSSES[self.C, self.predictor][SETS.index(item_set)]


def test_no_choice_sees_its_test_clustering():
    Told.trained.clear()
    folds, fits = leave_one_out(SETS, TRUTHS, Told, (1.0, 10.0), ("iterative", "discrete"))
    assert [fold.test for fold in folds] == [0, 1, 2, 3]
    # Without set 0 the means are 60, 50, 60, 20; without set 2 they are 30, 50, 60, 80 / 3.
    assert [(fold.C, fold.predictor) for fold in folds] == [(10.0, "discrete")] * 4
    assert [fold.loss for fold in folds] == [40.0, 20.0, 20.0, 20.0]
    assert folds[0].inner_loss == pytest.approx(20.0)
    assert folds[2].inner_loss == pytest.approx(80.0 / 3.0)
    inner = [
        (C, tuple(sorted({0, 1, 2, 3} - set(out))))
        for out in combinations(range(4), 2)
        for C in (1.0, 10.0)
    ]
    outer = [(10.0, tuple(sorted({0, 1, 2, 3} - {i}))) for i in range(4)]
    assert Told.trained == inner + outer
    assert len(fits) == len(inner) + len(outer)
    assert folds[0].record()["predictor"] == "discrete"


def test_of_equal_losses_the_smallest_c_and_first_predictor_win():
    build = Told
    saved = dict(LOSSES)
    try:
        LOSSES.update({key: [7.0] * 4 for key in LOSSES})
        folds, _ = leave_one_out(SETS, TRUTHS, build, (10.0, 1.0), ("discrete", "iterative"))
    finally:
        LOSSES.update(saved)
    assert {(fold.C, fold.predictor) for fold in folds} == {(1.0, "discrete")}


def test_real_models_learn_and_leave_records():
    rng = np.random.default_rng(0)
    truths = [rng.permutation(np.arange(18) % 3) for _ in range(3)]
    sets = [
        ItemSet(np.column_stack([np.eye(3)[t], 2.0 * rng.normal(size=(18, 4))])) for t in truths
    ]
    folds, fits = leave_one_out(
        sets, truths, lambda C: SupervisedKMeans(C=C, random_state=0), (0.1, 10.0)
    )
    plain, _ = leave_one_out(
        sets, truths, lambda C: EqualWeights(random_state=0), (1.0,), ("iterative",)
    )
    assert np.mean([fold.loss for fold in folds]) < 5 < np.mean([fold.loss for fold in plain])
    assert all(fit.n_oracle_calls > 0 and fit.seconds > 0 for fit in fits)
    assert len(fits) == 3 * 2 + 3
    assert [fold.n_iter for fold in plain] == [0, 0, 0]


def test_too_few_clusterings_are_refused():
    with pytest.raises(DataError, match="^2 clusterings"):
        leave_one_out(SETS[:2], TRUTHS[:2], Told, (1.0,))


def test_table_2():
    assert powers_of_ten(-2, 3) == (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
