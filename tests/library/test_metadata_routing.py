"""scikit-learn's metadata routing: what every estimator answers, and what meta-estimators pass."""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.utils.metadata_routing import UNUSED

import deepcac
from deepcac import CACClassifierCV, KMClassifier


def estimators():
    """Return every estimator class of the library that can be made without arguments."""
    modules = [import_module(m.name) for m in pkgutil.walk_packages(deepcac.__path__, "deepcac.")]
    classes = {c for module in modules for _, c in inspect.getmembers(module, inspect.isclass)}
    ours = [
        c
        for c in classes
        if issubclass(c, BaseEstimator)
        and c.__module__.startswith("deepcac.")
        and hasattr(c, "fit")
        and not inspect.isabstract(c)
        and not any(
            p.default is p.empty and p.name != "self" and p.kind is not p.VAR_KEYWORD
            for p in inspect.signature(c).parameters.values()
        )
    ]
    return sorted(ours, key=lambda c: c.__name__)


QUICK = {
    **{"max_epochs": 2, "pretrain_epochs": 2, "members": 2, "folds": 2, "device": "cpu"},
    **{"n_clusters": 2, "alphas": (0.0,), "cv": 2, "random_state": 0},
}


def quick(kind):
    estimator = kind()
    known = estimator.get_params()
    return estimator.set_params(**{name: v for name, v in QUICK.items() if name in known})


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def data(n=90):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def test_the_list_is_that_of_the_library():
    names = {kind.__name__ for kind in estimators()}
    public = {name for name in deepcac.__all__ if isinstance(getattr(deepcac, name), type)}
    assert {n for n in public if issubclass(getattr(deepcac, n), BaseEstimator)} <= names
    assert len(names) > 20


@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_every_estimator_tells_its_requests(kind, routing):
    requests = kind().get_metadata_routing()
    arguments = list(inspect.signature(kind.fit).parameters)[1:]
    asked = set(requests.fit.requests)
    assert asked <= set(arguments)
    assert UNUSED not in requests.fit.requests.values()
    # What is a value of each row can be asked for.
    rowwise = {"sample_weight", "groups", "labels"} & set(arguments)
    assert rowwise <= asked
    wanted = kind().get_metadata_routing().fit.requests | dict.fromkeys(rowwise, True)
    if rowwise:
        found = kind().set_fit_request(**dict.fromkeys(rowwise, True)).get_metadata_routing()
        assert found.fit.requests == wanted


@pytest.mark.parametrize(
    "kind", [k for k in estimators() if is_classifier(k())], ids=lambda kind: kind.__name__
)
@pytest.mark.filterwarnings("ignore")
def test_meta_estimators_take_every_classifier(kind, routing):
    X, y = data()
    calibrated = CalibratedClassifierCV(quick(kind), cv=2, ensemble=False).fit(X, y)
    assert calibrated.predict_proba(X).shape == (90, 2)
    bagged = BaggingClassifier(quick(kind), n_estimators=1, random_state=0).fit(X, y)
    assert set(bagged.predict(X)) <= {0, 1}


@pytest.mark.filterwarnings("ignore:When fitting BaggingClassifier")
def test_a_weight_that_is_asked_for_arrives(routing):
    X, y = data()
    weight = np.where(X[:, 1] > 0, 0.0, 1.0)
    plain = KMClassifier(random_state=0).set_fit_request(sample_weight=True)
    bagged = BaggingClassifier(
        plain, n_estimators=1, bootstrap=False, max_samples=1.0, random_state=0
    ).fit(X, y, sample_weight=weight)
    alone = KMClassifier(random_state=bagged.estimators_[0].random_state).fit(
        X, y, sample_weight=weight
    )
    np.testing.assert_allclose(bagged.predict_proba(X), alone.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
def test_groups_reach_the_inner_folds(routing):
    X, y = data()
    groups = np.arange(90) // 3
    model = CACClassifierCV(n_clusters=(1, 2), alphas=(0.0,), cv=GroupKFold(2), random_state=0)
    scores = cross_validate(
        model.set_fit_request(groups=True), X, y, cv=GroupKFold(2), params={"groups": groups}
    )
    assert np.isfinite(scores["test_score"]).all()


def test_every_estimator_is_random_unless_a_seed_is_given():
    defaults = {
        kind.__name__: kind().get_params()["random_state"]
        for kind in estimators()
        if "random_state" in kind().get_params()
    }
    assert len(defaults) > 15
    assert set(defaults.values()) == {None}
