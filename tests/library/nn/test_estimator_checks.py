"""scikit-learn's own checks of every deep classifier."""

import numpy as np
import pytest
from catalogued import networks
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from deepcac.nn.ac_tpc import ACTPCClassifier
from deepcac.nn.deepcac import DeepCACClassifier

# By how much float32 sums differ with the batch's shape depends on the machine and the values.
# What must hold anywhere is the last test. A weight says how often a row is drawn for a batch: in
# the mean as if it were repeated, but by other random numbers (test_weights_and_warnings.py).
LEFT_OUT = ("check_methods_subset_invariance", "check_sample_weight_equivalence_on_dense_data")


# Enough to tell blobs, which is what the checks of `LEARNT` ask; of a fit the others need any.
CHEAP = {
    **{"max_epochs": 15, "pretrain_epochs": 10, "lr": 0.02, "batch_size": 16},
    **{"device": "cpu", "random_state": 0},
}
SHORT = {"max_epochs": 2, "pretrain_epochs": 1}
LEARNT = ("check_classifiers_train", "check_classifiers_classes", "check_class_weight_classifiers")
# What runs through a method's own fit; what else is checked is of the class that all inherit.
OWN = (
    *LEARNT, "check_dict_unchanged", "check_estimators_dtypes", "check_estimators_overwrite_params",
    "check_fit2d_1feature", "check_fit2d_1sample", "check_fit_idempotent",
)  # fmt: skip
MODES = [
    {"method": DeepCACClassifier},
    *(
        {"method": method}
        for method in networks().values()
        if method not in (ACTPCClassifier, DeepCACClassifier)
    ),
    {"method": ACTPCClassifier, "alpha": 0.01},  # blobs are easy to tell: less doubt is needed
    {"method": DeepCACClassifier, "preprocess": None},
    {"method": DeepCACClassifier, "assignment": "soft"},
]


def checks():
    for mode in MODES:
        method, *options = mode.values()
        estimator = method(**{**CHEAP, **{key: mode[key] for key in mode if key != "method"}})
        for _, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            if name not in LEFT_OUT and (mode is MODES[0] or name in OWN):
                ready = estimator if name in LEARNT else clone(estimator).set_params(**SHORT)
                marks = [pytest.mark.long] * (mode is not MODES[0])
                label = "-".join([method.__name__, *map(str, options), name])
                yield pytest.param(ready, check, id=label, marks=marks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", networks().values())
def test_an_answer_depends_on_its_own_row_alone(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    model = method(max_epochs=2, batch_size=16, device="cpu", random_state=0).fit(
        X, np.arange(60) % 2
    )
    some = X[::6]
    one_by_one = np.vstack([model.predict_proba(row[None]) for row in some])
    np.testing.assert_allclose(model.predict_proba(X)[::6], one_by_one, atol=1e-5)
    np.testing.assert_array_equal(
        model.assign(X[::-1])[::-1][::6],
        np.concatenate([model.assign(row[None]) for row in some]),
    )
