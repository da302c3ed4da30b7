"""Public estimators use one word for one thing; old words warn for one release."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import estimator_checks

import deepcac
from deepcac import (
    ClassDecompositionClassifier,
    DeepCACClassifier,
    SequenceSummary,
    SupervisedKMeans,
)
from deepcac.decomposition import PairwiseLinearSVC
from deepcac.similarity import EqualWeights, ItemSet, PairSimilarity

PUBLIC = [
    name
    for name in deepcac.__all__
    if isinstance(kind := getattr(deepcac, name), type) and issubclass(kind, BaseEstimator)
]
QUICK = {"max_epochs": 2, "device": "cpu", "random_state": 0}


def rows(n=120, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_starting_clusters_are_labels():
    X, y = rows()
    labels = (X[:, 1] > 0).astype(int)
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), search="none")
    model.fit(X, y, labels=labels)
    assert model.n_clusters_ == tuple(len(np.unique(labels[y == c])) for c in (0, 1))


def test_validation_rows_are_a_pair():
    X, y = rows()
    X_val, y_val = rows(60, seed=1)
    model = DeepCACClassifier(**QUICK, pretrain_epochs=2)
    model.fit(X, y, validation=(X_val, y_val))
    assert len(model.held_out_) == 0
    with pytest.raises(TypeError):
        model.fit(X, y, X_val=X_val, y_val=y_val)


# Their input has no two axes: sequences, and sets of items with features of pairs.
OTHER_INPUT = [SequenceSummary(), SupervisedKMeans(), PairSimilarity(), EqualWeights()]


# What scikit-learn asks of every estimator, whatever it reads.
CHECKS = (
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", OTHER_INPUT, ids=lambda e: type(e).__name__)
def test_scikit_learns_checks_of_what_reads_no_table(estimator, check):
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", OTHER_INPUT, ids=lambda e: type(e).__name__)
def test_scikit_learn_gives_no_table_to_what_reads_none(estimator):
    tags = estimator.__sklearn_tags__().input_tags
    assert not tags.two_d_array
    assert tags.three_d_array == isinstance(estimator, SequenceSummary)
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        checks = list(estimator_checks.estimator_checks_generator(estimator))
    for model, check in checks:
        check(model)


def test_features_of_what_reads_no_table_are_counted():
    summary = SequenceSummary().fit(np.zeros((4, 5, 3)))
    assert summary.n_features_in_ == summary.n_variables_ == 3
    items = ItemSet(np.random.default_rng(0).normal(size=(6, 2)))
    assert not hasattr(EqualWeights(), "n_features_in_")
    assert EqualWeights().fit([items]).n_features_in_ == items.n_features == 2


@pytest.mark.parametrize("name", PUBLIC)
def test_scikit_learns_checks_ask_every_public_estimator(name):
    checking = re.compile(r"import (parametrize_with_checks|estimator_checks_generator)")
    files = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    asked = any(re.search(rf"\b{name}\b", text) for text in files if checking.search(text))
    assert asked or name in {type(estimator).__name__ for estimator in OTHER_INPUT}


def test_a_word_that_was_never_one_is_refused():
    with pytest.raises(TypeError, match="'x_val'"):
        DeepCACClassifier(**QUICK).fit(*rows(), x_val=rows()[0])
