"""scikit-learn's own checks of every deep classifier."""

import numpy as np
import pytest
from catalogued import networks
from sklearn.utils.estimator_checks import estimator_checks_generator

from deepcac.nn.ac_tpc import ACTPCClassifier
from deepcac.nn.deepcac import DeepCACClassifier

# By how much float32 sums differ with the batch's shape depends on the machine and the values.
# What must hold anywhere is the last test. A weight says how often a row is drawn for a batch: in
# the mean as if it were repeated, but by other random numbers (test_weights_and_warnings.py).
LEFT_OUT = ("check_methods_subset_invariance", "check_sample_weight_equivalence_on_dense_data")


# These rows are too few and too plain to gain from 100 epochs of pre-training.
CHEAP = {
    **{"max_epochs": 15, "pretrain_epochs": 10, "lr": 0.02, "batch_size": 16},
    **{"device": "cpu", "random_state": 0},
}
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
            if check.func.__name__ not in LEFT_OUT:
                name = "-".join([method.__name__, *map(str, options), check.func.__name__])
                marks = [pytest.mark.long] * (mode is not MODES[0])
                yield pytest.param(estimator, check, id=name, marks=marks)


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
    one_by_one = np.vstack([model.predict_proba(row[None]) for row in X])
    np.testing.assert_allclose(model.predict_proba(X), one_by_one, atol=1e-5)
    np.testing.assert_array_equal(
        model.assign(X[::-1])[::-1], np.concatenate([model.assign(row[None]) for row in X])
    )
