import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.cac import CACClassifier, KMClassifier


@pytest.mark.filterwarnings("ignore::deepcac.cac.CollapseWarning")
@parametrize_with_checks([CACClassifier(), KMClassifier(), CACClassifier(RidgeClassifier())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
