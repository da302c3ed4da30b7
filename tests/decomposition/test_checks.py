import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.decomposition import (
    ClassDecompositionClassifier,
    MixedNaiveBayes,
    PairwiseLinearSVC,
)
from deepcac.decomposition.smo import UnitPoints

MODELS = [
    MixedNaiveBayes(),
    PairwiseLinearSVC(),
    UnitPoints(),
    ClassDecompositionClassifier(),
    ClassDecompositionClassifier(search="none"),
    ClassDecompositionClassifier(search="exhaustive", max_clusters=3),
    ClassDecompositionClassifier(PairwiseLinearSVC(), refit="one_class"),
    ClassDecompositionClassifier(LogisticRegression(), 2, clusterer="kmeans", refit="one_class"),
    ClassDecompositionClassifier(RidgeClassifier(), 2, clusterer="kmeans"),
]


def weightless(estimator):
    """Name the check of class weights for a base that takes no row weights."""
    if isinstance(getattr(estimator, "base_estimator", None), PairwiseLinearSVC):
        return {"check_class_weight_classifiers": "WEKA's machines take no weights"}
    return {}


@pytest.mark.slow
@parametrize_with_checks(MODELS, expected_failed_checks=weightless)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
