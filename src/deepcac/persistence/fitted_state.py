"""What fitted estimators hold: lengths that belong together, numbers that can be learnt.

A file that names types of the positive list only can still hold a state that no `fit` leaves. Here
the whole state of each type is checked before the first prediction; no prediction is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from deepcac.errors import DataError
from deepcac.files.saved_models import LARGEST, SMALLEST, check_classes_of, check_count
from deepcac.persistence.allowed_types import OF_DEEPCAC, OF_SKLEARN
from deepcac.persistence.state_rules import RULES, Lengths

# A letter is a length, the same wherever it stands; capitals hold for what is inside as well.
_CLUSTERED = {
    "classes_": "C",
    "cluster_centers_": "KD",
    "class_counts_": "KC",
    "estimators_": "K",
    "subtypes_": "n",
}
_LINEAR = {"classes_": "m", "coef_": "oD", "intercept_": "o"}
_STATES: dict[str, dict[str, str]] = {
    "CACClassifier": _CLUSTERED,
    "CACClassifierCV": _CLUSTERED,
    "KMClassifier": _CLUSTERED,
    "MetricKMClassifier": _CLUSTERED | {"metric_": ""},
    "ClassMetric": {"weights_": "D"},
    "TableScaler": {"median_": "d", "flagged_": "f", "kept_": "g", "mean_": "q", "scale_": "q"},
    "ClassDecompositionClassifier": {"classes_": "C", "_class_of_group": "G", "estimator_": ""},
    "MixedNaiveBayes": {"classes_": "G", "_columns": "", "widths_": "P", "densities_": "G"},
    "PairwiseLinearSVC": {"classes_": "G", "_columns": "", "_design": "", "planes_": "ve"},
    "UnitPoints": {"_columns": "", "design_": ""},
    "Columns": {},
    "Density": {"mean": "P", "sd": "P", "log_share": "L"},
    "Design": {"low": "P", "reach": "P"},
    "Filler": {"means": "P", "modes": "N"},
    "Step": {},
    "KernelMap": {"_map": ""},
    "WorkingSet": {},
    "NearestClassMean": {"classes_": "m", "model_": ""},
    "Renumbered": {"classes_": "m", "classifier_": ""},
    "SupervisedKMeans": {"weights_": "W", "cutting_planes_": ""},
    "PairSimilarity": {"weights_": "w", "cutting_planes_": ""},
    "EqualWeights": {"weights_": "w"},
    "LogisticRegression": _LINEAR,
    "LinearSVC": _LINEAR,
    "NewtonSVC": _LINEAR,
    "Perceptron": _LINEAR,
    "SGDClassifier": _LINEAR,
    "RidgeClassifier": {"intercept_": "o", "_label_binarizer": ""},
    "LabelBinarizer": {"classes_": "m"},
    "LinearDiscriminantAnalysis": _LINEAR,
    "NearestCentroid": {"classes_": "m", "centroids_": "mD"},
    "GaussianNB": {"classes_": "m", "theta_": "mD", "var_": "mD", "class_prior_": "m"},
    "DummyClassifier": {"classes_": "m", "class_prior_": "m"},
    "DecisionTreeClassifier": {"classes_": "m", "tree_": ""},
    "Nystroem": {"components_": "sD", "normalization_": "ss"},
    "SimpleImputer": {"statistics_": "D"},
    "StandardScaler": {},
    "MinMaxScaler": {"scale_": "D", "min_": "D"},
    "RobustScaler": {},
    "Pipeline": {},
}
# Not in every release of scikit-learn, or not of every setting.
_OPTIONAL: dict[str, dict[str, str]] = {
    "NearestCentroid": {"deviations_": "mD", "within_class_std_dev_": "D", "class_prior_": "m"},
    "LinearDiscriminantAnalysis": {"means_": "mD", "priors_": "m", "xbar_": "D"},
    "GaussianNB": {"class_count_": "m"},
    "StandardScaler": {"var_": "D"},
    "MinMaxScaler": {"data_min_": "D", "data_max_": "D", "data_range_": "D"},
    "Nystroem": {"component_indices_": "s"},
}
_ABOVE_0 = ("scale_", "sd", "reach", "widths_", "var_")
_FROM_0 = (("StandardScaler", "var_"),)  # of a constant column it is 0, and its scale 1
# What of a working set is not yet filled is of no account; NaN is what an imputer replaces.
_UNREAD = ("_room", "missing_values")
_DECLARED = frozenset((*OF_DEEPCAC, *OF_SKLEARN))
_OUTPUTS = ("default", "pandas", "polars")


def check_state(model: Any, trusted: Collection[str] = ()) -> None:
    """Refuse a loaded model that no `fit` can have left.

    Parameters
    ----------
    model : estimator
        Or a pipeline of such. What it holds was named on the positive list, or is trusted.
    trusted : collection of str
        Types that the user vouches for; what they hold is not looked at.

    Raises
    ------
    DataError
        An attribute is missing, or arrays do not fit each other, or a number is not finite.
    """
    if not isinstance(model, BaseEstimator):
        raise DataError(f"holds a {type(model).__name__}, which is no estimator")
    _check(model, {}, frozenset(trusted), set())


def _check(part: Any, lengths: Lengths, trusted: frozenset[str], seen: set[int]) -> None:
    """Check an object and what it holds; `lengths` are those of the objects around it."""
    kind = f"{type(part).__module__}.{type(part).__qualname__}"
    if id(part) in seen or kind in trusted:
        return
    seen.add(id(part))
    if kind not in _DECLARED:
        raise DataError(f"holds a {kind}, whose state cannot be checked")
    name, fitted = type(part).__name__, isinstance(part, BaseEstimator)
    if fitted:
        _check_estimator(part)
    measured = _measure(part, dict({} if fitted else lengths))
    inside = {letter: length for letter, length in measured.items() if letter.isupper()}
    for value in _fitted_values(part):
        for held in _objects(value):
            _check(held, {} if isinstance(held, BaseEstimator) else inside, trusted, seen)
    if name in RULES:  # after its parts, which it compares
        RULES[name](part, measured)


def _check_estimator(part: BaseEstimator) -> None:
    """Check parameters and the names of the columns; they decide how an answer is made."""
    attributes, kind = vars(part), type(part).__name__
    missing = [name for name in type(part)._get_param_names() if name not in attributes]
    if missing:
        raise DataError(f"{kind} has no {missing[0]}")
    if hasattr(part, "_parameter_constraints"):
        part._validate_params()
    if attributes.get("_sklearn_output_config", {}).get("transform", "default") not in _OUTPUTS:
        raise DataError(f"{kind} answers in no form that is known")
    for name in type(part)._get_param_names():
        if (
            isinstance(attributes[name], BaseEstimator)
            and _full_name(attributes[name]) in _DECLARED
        ):
            _check_estimator(attributes[name])
    if "feature_names_in_" in attributes:
        names = attributes["feature_names_in_"]
        if not isinstance(names, np.ndarray) or names.ndim != 1:
            raise DataError("feature_names_in_ are no names")
        texts = [text for text in names.tolist() if isinstance(text, str)]
        if len(set(texts)) != len(names) or len(names) != attributes.get("n_features_in_"):
            raise DataError("feature_names_in_ are not one different name a column")


def _full_name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


def _fitted_values(part: Any) -> Iterator[Any]:
    """Yield what was fitted; parameters are not, but for the steps of a pipeline."""
    given = type(part)._get_param_names() if isinstance(part, BaseEstimator) else ()
    for name, value in _parts(part).items():
        if name not in given or name == "steps":
            yield value


def _measure(part: Any, lengths: Lengths) -> Lengths:
    """Compare the arrays of an object with each other; return their lengths by letter."""
    attributes, kind = _parts(part), type(part).__name__
    if "n_features_in_" in attributes:
        count = check_count("n_features_in_", attributes["n_features_in_"], 1)
        _same(kind, "n_features_in_", "D", count, lengths)
    optional = {
        name: letters for name, letters in _OPTIONAL.get(kind, {}).items() if name in attributes
    }
    for name, letters in (_STATES[kind] | optional).items():
        if name not in attributes:
            raise DataError(f"{kind} has no {name}")
        if name in optional and attributes[name] is None:
            continue
        for letter, length in zip(
            letters, _shape(kind, name, attributes[name], letters), strict=True
        ):
            _same(kind, name, letter, length, lengths)
    for name, value in attributes.items():
        if name not in _UNREAD and not _is_validated(part, name, value):
            _check_numbers(f"{name} of {kind}", value, _least(kind, name))
    if "classes_" in attributes:
        if not isinstance(attributes["classes_"], np.ndarray):
            raise DataError(f"classes_ of {kind} are no labels")
        check_classes_of(f"classes_ of {kind}", attributes["classes_"], 1)
    return lengths


def _shape(kind: str, name: str, value: Any, letters: str) -> tuple[int, ...]:
    if not letters:  # it must be there, no more
        return ()
    if not isinstance(value, np.ndarray | list):
        raise DataError(f"{name} of {kind} is a {type(value).__name__}")
    shape = (len(value),) if isinstance(value, list) else value.shape
    if len(shape) != len(letters):
        raise DataError(f"{name} of {kind} has {len(shape)} axes, not {len(letters)}")
    if (
        isinstance(value, np.ndarray)
        and name != "classes_"  # labels are only looked up
        and value.dtype.kind in "fiu"
        and value.dtype.itemsize != 8
    ):
        raise DataError(f"{name} of {kind} is {value.dtype}")
    return shape


def _same(kind: str, name: str, letter: str, length: int, lengths: Lengths) -> None:
    if lengths.setdefault(letter, length) != length:
        raise DataError(f"{name} of {kind} has {length} where {lengths[letter]} were expected")


def _is_validated(part: Any, name: str, value: Any) -> bool:
    """Tell whether `_check_estimator` checked a parameter: some may be infinite, such as C."""
    rules: dict[str, Any] = getattr(type(part), "_parameter_constraints", {})
    checked = [entry for entry, rule in rules.items() if rule != "no_validation"]
    return name in checked and not isinstance(value, np.ndarray)


def _least(kind: str, name: str) -> float:
    """Return the least number that an attribute may hold."""
    if (kind, name) in _FROM_0:
        return 0.0
    return SMALLEST if name in _ABOVE_0 else -LARGEST


def _check_numbers(what: str, value: Any, least: float) -> None:
    if not isinstance(value, np.ndarray | float | np.floating):
        return
    if np.asarray(value).dtype.kind != "f":
        return
    values = np.asarray(value, dtype=np.float64)  # the limits are beyond float32
    if not (np.abs(values) <= LARGEST).all():
        raise DataError(f"{what} is not finite, or beyond {LARGEST:g}")
    if not (values >= least).all():
        raise DataError(f"{what} is {'below' if least == 0 else 'not above'} 0")


def _parts(part: Any) -> dict[str, Any]:
    if hasattr(part, "_asdict"):
        return part._asdict()
    return vars(part) if hasattr(part, "__dict__") else {}


def _objects(value: Any) -> Iterator[Any]:
    """Yield estimators and records in a value, a list or a dict of them."""
    if isinstance(value, BaseEstimator) or hasattr(value, "_asdict"):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _objects(part)
    elif type(value).__name__ in ("KernelMap", "WorkingSet"):
        yield value
