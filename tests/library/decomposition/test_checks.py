import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes, PairwiseLinearSVC
from deepcac.decomposition.smo import UnitPoints

MODELS = [
    MixedNaiveBayes(),
    PairwiseLinearSVC(),
    UnitPoints(),
    ClassDecompositionClassifier(),
]
MODES = [
    ClassDecompositionClassifier(PairwiseLinearSVC(), refit="one_class"),
    ClassDecompositionClassifier(RidgeClassifier(), 2, clusterer="kmeans"),
]


# Rows weigh the same when they are clustered, so that a weight is not a repetition.
UNLIKE = {
    "check_sample_weight_equivalence_on_dense_data": "weights are the base classifier's, "
    "the clusters count rows as they are",
}
# WEKA's machines take no weights, which `fit` says and the checks do not expect.
WEIGHTLESS = dict.fromkeys(
    (
        "check_class_weight_classifiers",
        "check_classifiers_one_label_sample_weights",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_all_zero_sample_weights_error",
    ),
    "WEKA's machines take no weights",
)


def unlike(estimator):
    """Name the checks that ask for what is not meant."""
    if not isinstance(estimator, ClassDecompositionClassifier):
        return {}
    weightless = isinstance(estimator.base_estimator, PairwiseLinearSVC)
    return WEIGHTLESS if weightless else UNLIKE


@pytest.mark.slow
@parametrize_with_checks(MODELS, expected_failed_checks=unlike)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(MODES, expected_failed_checks=unlike)
def test_scikit_learn_checks_of_every_mode(estimator, check):
    check(estimator)
