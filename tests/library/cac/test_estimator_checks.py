"""scikit-learn's own checks of the estimators that cluster first, in every mode."""

import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.cac import CACClassifier, CACClassifierCV, KMClassifier, MetricKMClassifier

MODELS = [
    CACClassifier(),
    CACClassifierCV(n_clusters=(1, 2), alphas=(0.0, 0.1), cv=2),
    KMClassifier(),
]
MODES = [
    CACClassifier(LinearSVC()),
    CACClassifier(alpha=0.3),
    CACClassifier(selection="best_train_loss"),
    CACClassifier(selection="best_validation"),
    CACClassifier(RidgeClassifier()),
    CACClassifier(DecisionTreeClassifier(max_depth=3)),
    MetricKMClassifier(),
]
# Rows weigh the same when they are clustered, so that a weight is not a repetition.
UNLIKE = {
    "check_sample_weight_equivalence_on_dense_data": "weights are the base classifier's, "
    "the clusters count rows as they are",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(MODELS, expected_failed_checks=lambda estimator: UNLIKE)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(MODES, expected_failed_checks=lambda estimator: UNLIKE)
def test_scikit_learn_checks_of_every_mode(estimator, check):
    check(estimator)
