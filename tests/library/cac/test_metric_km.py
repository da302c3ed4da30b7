import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from deepcac.cac import KMClassifier, MetricKMClassifier


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)) + np.repeat([[-3, 0, 0], [3, 0, 0]], 100, axis=0)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    return X, y


def test_the_plain_metric_is_cluster_then_predict():
    X, y = rows()
    plain = KMClassifier(LogisticRegression(), 2, random_state=0).fit(X, y)
    for metric in (None, FunctionTransformer()):
        model = MetricKMClassifier(metric, LogisticRegression(), 2, random_state=0).fit(X, y)
        assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
        assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)


def test_clusters_are_of_the_metric_and_classifiers_of_the_rows():
    X, y = rows()
    loud = X * [1.0, 1.0, 50.0]
    quiet = FunctionTransformer(lambda Z: Z * [1.0, 1.0, 0.0])
    model = MetricKMClassifier(quiet, LogisticRegression(), 2, random_state=0).fit(loud, y)
    sides = model.assign(loud)
    assert np.array_equal(sides == sides[0], loud[:, 0] < 0)
    assert model.estimators_[0].coef_.shape == (1, 3)
    assert model.score(loud, y) > 0.95
    plain = KMClassifier(LogisticRegression(), 2, random_state=0).fit(loud, y)
    assert plain.score(loud, y) < 0.8
