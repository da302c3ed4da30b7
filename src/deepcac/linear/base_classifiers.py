"""The papers' base classifiers X, set as in Srivastava et al. 2021, CAC v1, section 6.2."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from deepcac.errors import DataError
from deepcac.linear.newton_svm import NewtonSVC

ClassWeight = str | dict[Any, float] | None
IN_CLUSTERS = "balanced_in_clusters"


class Renumbered(ClassifierMixin, BaseEstimator):
    """Wrapper of a classifier that needs class ids 0, 1, ... without a gap: it renumbers them.

    XGBoost refuses a cluster that lacks a middle class.

    Parameters
    ----------
    classifier : estimator
        Accepts row weights and gives probabilities.
    """

    def __init__(self, classifier: BaseEstimator) -> None:
        self.classifier = classifier

    def fit(
        self,
        X: npt.NDArray[np.float64],
        y: npt.NDArray[Any],
        sample_weight: npt.NDArray[np.float64] | None = None,
    ) -> "Renumbered":
        """Fit on the classes that occur, of shape (c,), renumbered."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.classifier_ = clone(self.classifier).fit(X, numbers, sample_weight=sample_weight)
        return self

    def predict(self, X: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the class of each row, by its label in `fit`."""
        return self.classes_[self.classifier_.predict(X)]

    def predict_proba(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return probabilities of shape (n, c), in the order of ``classes_``."""
        return self.classifier_.predict_proba(X)


class NearestClassMean(ClassifierMixin, BaseEstimator):
    """scikit-learn's nearest class centroid, with the distances it decides by as scores.

    scikit-learn's scores weigh each column by the pooled variance, its predictions do not.
    """

    def fit(self, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> "NearestClassMean":
        """Learn the mean of the rows of each class, shape (c, d)."""
        self.model_ = NearestCentroid().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the class whose mean is nearest."""
        return self.model_.predict(X)

    def decision_function(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return minus the squared distances (n, c); for two classes their difference (n,)."""
        near = -euclidean_distances(X, self.model_.centroids_, squared=True)
        return near[:, 1] - near[:, 0] if len(self.classes_) == 2 else near


# Where the papers are silent, scikit-learn's defaults apply, but for solvers that suit many more
# rows than columns. Linear models go on from a start that is given (`begin_at`).
def logistic_regression(seed: int) -> BaseEstimator:
    """Return an unfitted logistic regression; Newton solvers take longer in collapsed clusters."""
    return LogisticRegression(max_iter=1000, warm_start=True, random_state=seed)


def linear_svm(seed: int) -> BaseEstimator:
    """Return an unfitted linear SVM, by Newton's method."""
    return NewtonSVC(warm_start=True)


def linear_discriminant(seed: int) -> BaseEstimator:
    """Return an unfitted linear discriminant analysis.

    By singular values: least squares is faster, but treats columns that are collinear within a
    cluster differently, which changes F1 by up to 0.04.
    """
    return LinearDiscriminantAnalysis()


def perceptron(seed: int) -> BaseEstimator:
    """Return an unfitted perceptron."""
    return Perceptron(random_state=seed)


def random_forest(seed: int) -> BaseEstimator:
    """Return an unfitted random forest of 10 trees."""
    return RandomForestClassifier(n_estimators=10, random_state=seed)


def nearest_neighbours(seed: int) -> BaseEstimator:
    """Return an unfitted classifier of the 5 nearest neighbours."""
    return KNeighborsClassifier(n_neighbors=5)


def stochastic_gradient(seed: int) -> BaseEstimator:
    """Return an unfitted linear classifier of the log loss, by stochastic gradient descent."""
    return SGDClassifier(loss="log_loss", random_state=seed)


def ridge(seed: int) -> BaseEstimator:
    """Return an unfitted ridge regression on -1 and 1."""
    return RidgeClassifier()


def boosted_trees(seed: int) -> BaseEstimator:
    """Return 10 unfitted boosted trees of XGBoost."""
    from xgboost import XGBClassifier

    return Renumbered(XGBClassifier(n_estimators=10, n_jobs=1, random_state=seed))


def nearest_class_mean(seed: int) -> BaseEstimator:
    """Return an unfitted nearest class centroid, the rule that CAC becomes when it collapses."""
    return NearestClassMean()


def cluster_weights(class_weight: ClassWeight, y: npt.NDArray[Any]) -> ClassWeight:
    """Return the class weights for the classifier of every cluster, from the classes of all rows.

    Parameters
    ----------
    class_weight : {"balanced", "balanced_in_clusters"}, dict or None
        "balanced" becomes the same weights in every cluster, so that a cluster where a class is
        rare keeps its lower risk; "balanced_in_clusters" balances anew in each.
    y : ndarray of shape (n,)
        Classes of all training rows.
    """
    if class_weight == IN_CLUSTERS:
        return "balanced"
    if class_weight == "balanced":
        present = np.unique(y)
        weights = compute_class_weight("balanced", classes=present, y=y)
        return dict(zip(present.tolist(), weights.tolist(), strict=True))
    return class_weight


def begin_at(model: BaseEstimator, fitted: BaseEstimator | None) -> None:
    """Set the coefficients that a linear model with ``warm_start`` starts from, in place."""
    if getattr(model, "warm_start", False) and fitted is not None and hasattr(fitted, "coef_"):
        model.coef_, model.intercept_ = fitted.coef_.copy(), fitted.intercept_.copy()


def fit_weighted(
    base: BaseEstimator,
    X: npt.NDArray[np.float64],
    y: npt.NDArray[Any],
    class_weight: ClassWeight,
    start: BaseEstimator | None = None,
    sample_weight: npt.NDArray[np.float64] | None = None,
) -> BaseEstimator:
    """Fit a clone of `base` with class weights, if it accepts any.

    A classifier without ``class_weight`` is given row weights; one that takes neither (LDA, k-NN)
    is fitted unweighted. Rows of one class, all alike, or all of weight 0 get a constant
    classifier.

    Parameters
    ----------
    base : estimator
        Left unfitted.
    X, y : ndarray of shape (n, d) and (n,)
        Training rows.
    class_weight : {"balanced"}, dict or None
        None leaves `base` as it is.
    start : estimator, optional
        Same kind of classifier, fitted on nearly the same rows; the result does not depend on it
        beyond the solver's tolerance.
    sample_weight : ndarray of shape (n,), optional
        For a `base` that accepts them; they multiply the class weights.

    Returns
    -------
    estimator
        The fitted clone.
    """
    present = np.unique(y)
    if len(present) == 1:
        return DummyClassifier(strategy="most_frequent").fit(X, y)
    if (X[:1] == X).all():
        return DummyClassifier(strategy="prior").fit(X, y)
    if sample_weight is not None and not sample_weight.any():
        return DummyClassifier(strategy="prior").fit(X, y)
    model = clone(base)
    # One that was fitted to other classes has planes of another number.
    begin_at(model, start if np.array_equal(getattr(start, "classes_", ()), present) else None)
    if isinstance(class_weight, dict):
        class_weight = {c: w for c, w in class_weight.items() if c in present}
    rows = sample_weight
    if class_weight is not None and "class_weight" in model.get_params():
        model.set_params(class_weight=class_weight)
    elif class_weight is not None and takes_weights(model):
        of_classes = compute_sample_weight(class_weight, y)
        rows = of_classes if rows is None else rows * of_classes
    model = model.fit(X, y) if rows is None else model.fit(X, y, sample_weight=rows)
    check_learnt(model)
    return model


def takes_weights(base: BaseEstimator) -> bool:
    """Return whether a classifier accepts class weights or row weights."""
    return "class_weight" in base.get_params() or has_fit_parameter(base, "sample_weight")


def balanced_shares(
    base: BaseEstimator, class_weight: ClassWeight, y: npt.NDArray[np.int64], n_classes: int
) -> npt.NDArray[np.float64] | None:
    """Return the training class shares (n_classes,), with which to undo "balanced" weights.

    None if the classes were not balanced by weights for all clusters alike.
    """
    if class_weight != "balanced" or not takes_weights(base):
        return None
    return np.bincount(y, minlength=n_classes) / len(y)


def seeded(base: BaseEstimator, random_state: Any) -> BaseEstimator:
    """Return a clone of `base` whose random states that are None come from `random_state`.

    Parameters
    ----------
    random_state : int, RandomState or None
        None leaves `base` unseeded.
    """
    model = clone(base)
    if random_state is None:
        return model
    drawn = isinstance(random_state, np.random.RandomState)
    seed = int(random_state.randint(2**31 - 1)) if drawn else int(random_state)
    free = {
        name: seed
        for name, value in model.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return model.set_params(**free)


def check_answers(values: npt.NDArray[np.float64]) -> None:
    """Raise `DataError` if probabilities or decision values (n, ...) are not finite."""
    fits = np.isfinite(values)
    if not fits.all():
        row = int(np.argwhere(~fits)[0][0])
        raise DataError(
            f"row {row}: the base classifier answers {values[~fits][0]:g}; a value is too far from "
            "those of fit, or was learnt from columns without spread: scale them first, for "
            "example by deepcac.preprocess.TableScaler"
        )


def check_learnt(model: BaseEstimator) -> None:
    """Raise `DataError` if a fitted classifier holds NaN, infinity, or a variance of 0."""
    for name, value in vars(model).items():
        if not name.endswith("_") or not isinstance(value, np.ndarray):
            continue
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise DataError(
                f"{type(model).__name__} learnt {name} that are no numbers; scale the columns "
                "first, for example by deepcac.preprocess.TableScaler"
            )
        if name == "var_" and not (value >= np.finfo(np.float64).tiny).all():
            raise DataError(
                f"{type(model).__name__} found columns without spread; leave them out, or scale "
                "them first, for example by deepcac.preprocess.TableScaler"
            )


def class_log_odds(probability: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the log-odds of class probabilities (n, n_classes), finite where one is 0.

    For two classes those of the second, shape (n,); else each class against the rest.
    """
    least = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(probability, least))
    if probability.shape[1] == 2:
        return logs[:, 1] - logs[:, 0]
    rest = np.maximum(probability.sum(axis=1, keepdims=True) - probability, least)
    return logs - np.log(rest)


def class_scores(
    model: ClassifierMixin,
    X: npt.NDArray[np.float64],
    n_classes: int,
    *,
    probabilities: bool = True,
) -> npt.NDArray[np.float64]:
    """Return one score per class: probabilities where the model has them, else decision values.

    Parameters
    ----------
    model : estimator
        Fitted on class ids 0..n_classes-1, of which it may have seen only some.
    X : ndarray of shape (n, d)
        Rows.
    n_classes : int
        Number of columns.
    probabilities : bool
        Whether probabilities are preferred to decision values.

    Returns
    -------
    ndarray of shape (n, n_classes)
        A class the model has not seen gets probability 0, or the least decision value -1.
    """
    seen = np.asarray(model.classes_, dtype=np.int64)
    if probabilities and hasattr(model, "predict_proba"):
        scores = np.zeros((len(X), n_classes))
        scores[:, seen] = model.predict_proba(X)
        return scores
    values = model.decision_function(X)
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    scores = np.full((len(X), n_classes), min(-1.0, values.min(initial=0.0)))
    scores[:, seen] = values
    return scores
