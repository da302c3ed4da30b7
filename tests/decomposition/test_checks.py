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


@pytest.mark.slow
@parametrize_with_checks(MODELS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
