"""scikit-learn's own checks of every deep classifier."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_nn_methods import ALL


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [method(max_epochs=20, lr=0.02, batch_size=16, device="cpu") for method in ALL]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
