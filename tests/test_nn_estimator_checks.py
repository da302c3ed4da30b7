"""scikit-learn's own checks of every deep classifier."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.nn.adapter import ESTIMATORS

FLOAT32 = {
    "check_methods_subset_invariance": "float32 sums differ in the last bit with the batch's shape",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [method(max_epochs=15, lr=0.02, batch_size=16, device="cpu") for method in ESTIMATORS.values()],
    expected_failed_checks=lambda estimator: FLOAT32,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
