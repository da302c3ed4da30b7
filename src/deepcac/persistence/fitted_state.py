"""Check of a loaded estimator: its attributes against the state table, and a trial prediction.

A file that names types of the table only can still hold a state that no `fit` produces.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags

from deepcac.errors import DataError
from deepcac.files.saved_models import (
    LARGEST,
    SMALLEST,
    attributes_of,
    check_array,
    check_classes_of,
    check_count,
    check_ids,
    objects_in,
)
from deepcac.persistence.state_table import STATES

Lengths = dict[str, int]
_LEAST = {"p": SMALLEST, "z": 0.0}
_ANSWERS = ("predict", "predict_proba", "decision_function", "transform")
_KERNELS = ("rbf", "linear", "poly", "polynomial", "sigmoid", "laplacian", "cosine")
_OUTPUTS = ("default", "pandas", "polars")
_MOST_COLUMNS, _MOST_JOBS, _MOST_ROWS = 1 << 24, 1 << 10, 1 << 40
# What of a working set is not yet filled is of no account; NaN is what an imputer replaces.
_UNREAD = ("_room", "missing_values")


def check_state(model: Any, trusted: Collection[str] = ()) -> None:
    """Raise `DataError` for a loaded model that no `fit` can have produced.

    Parameters
    ----------
    model : estimator
        Or a pipeline. The types in it are in the table, or trusted.
    trusted : collection of str
        Types that the user trusts; their content is not checked.

    Raises
    ------
    DataError
        An attribute is missing or not in the table, arrays do not fit each other, a number is not
        finite, or a trial prediction fails.
    """
    if not isinstance(model, BaseEstimator):
        raise DataError(f"holds a {type(model).__name__}, which is no estimator")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _check(model, {}, frozenset(trusted))


def _check(part: Any, around: Lengths, trusted: frozenset[str]) -> bool:
    """Check an object and all inside it; return False if some of that was only trusted."""
    kind = _name(part)
    if kind in trusted:
        return False
    if kind not in STATES:
        raise DataError(f"holds a {kind}, whose state cannot be checked")
    fitted = isinstance(part, BaseEstimator)
    _check_names(part)
    if fitted:
        _check_parameters(part)
    lengths = _measure(part, STATES[kind], {} if fitted else dict(around))
    inside = {letter: length for letter, length in lengths.items() if letter.isupper()}
    given = type(part)._get_param_names() if fitted else ()
    values = [
        value for name, value in attributes_of(part).items() if name not in given or name == "steps"
    ]
    held = [inner for value in values for inner in objects_in(value)]
    trusting = sum(not _check(inner, inside, trusted) for inner in held)
    if type(part).__name__ in _RULES:  # after its parts, which it compares
        _RULES[type(part).__name__](part, lengths)
    if not trusting and "n_features_in_" in attributes_of(part):
        _ask(part)
    if hasattr(part, "similarity"):
        _ask_of_items(part)
    return not trusting


def _name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


def _check_names(part: Any) -> None:
    """Raise `DataError` if a parameter is missing, or an attribute is not in the table."""
    attributes, kind = attributes_of(part), type(part).__name__
    given = type(part)._get_param_names() if isinstance(part, BaseEstimator) else ()
    known = STATES[_name(part)]
    for name in (*given, *attributes):
        if name not in attributes:
            raise DataError(f"{kind} has no {name}")
        if name not in given and name not in known:
            raise DataError(f"{kind} has an attribute {name[:40]!r} that no fit sets")


def _check_parameters(part: BaseEstimator) -> None:
    """Check parameters and column names, which affect predictions; raise `DataError`."""
    attributes, kind = vars(part), type(part).__name__
    given = type(part)._get_param_names()
    if hasattr(part, "_parameter_constraints"):
        part._validate_params()
    jobs = attributes.get("n_jobs")
    if jobs is not None and (type(jobs) is not int or abs(jobs) > _MOST_JOBS):
        raise DataError(f"n_jobs of {kind} is {str(jobs)[:40]}")
    if attributes.get("_sklearn_output_config", {}).get("transform", "default") not in _OUTPUTS:
        raise DataError(f"{kind} answers in no form that is known")
    for value in () if kind == "Pipeline" else map(attributes.get, given):
        for held in objects_in(value):
            if _name(held) in STATES:
                _check_names(held)
                if isinstance(held, BaseEstimator):
                    _check_parameters(held)
    if "feature_names_in_" in attributes:
        names = attributes["feature_names_in_"]
        if not isinstance(names, np.ndarray) or names.ndim != 1:
            raise DataError("feature_names_in_ are no names")
        texts = [text for text in names.tolist() if isinstance(text, str)]
        if len(set(texts)) != len(names) or len(names) != attributes.get("n_features_in_"):
            raise DataError("feature_names_in_ are not one different name a column")


def _measure(part: Any, state: dict[str, str], lengths: Lengths) -> Lengths:
    """Check an object's attributes against the table; return `lengths`, by letter, extended."""
    attributes, kind = attributes_of(part), type(part).__name__
    if "n_features_in_" in attributes:
        lengths["D"] = check_count("n_features_in_", attributes["n_features_in_"], 1)
        if lengths["D"] > _MOST_COLUMNS:
            raise DataError(f"{kind} is of {lengths['D']:,} columns")
    for name, entry in state.items():
        letters = entry.removeprefix("?")
        if not letters or (letters != entry and attributes.get(name) is None):
            continue
        if name not in attributes:
            raise DataError(f"{kind} has no {name}")
        shape = _shape(f"{name} of {kind}", attributes[name], letters[0])
        if len(shape) != len(letters) - 1:
            raise DataError(f"{name} of {kind} has {len(shape)} axes, not {len(letters) - 1}")
        for letter, length in zip(letters[1:], shape, strict=True):
            if lengths.setdefault(letter, length) != length:
                raise DataError(
                    f"{name} of {kind} has {length} where {lengths[letter]} were expected"
                )
    validated = getattr(type(part), "_parameter_constraints", {})
    for name, value in attributes.items():  # some parameters may be infinite, such as C
        if name not in _UNREAD and validated.get(name, "no_validation") == "no_validation":
            _check_numbers(f"{name} of {kind}", value)
    return lengths


def _shape(what: str, value: Any, kind: str) -> tuple[int, ...]:
    """Check that a value is of its `kind` in the table, and return its shape."""
    if kind == "l" and isinstance(value, list):
        return (len(value),)
    if kind == "d" and value == np.dtype(np.float64):
        return ()
    if kind in "ld" or not isinstance(value, np.ndarray):
        raise DataError(f"{what} is a {type(value).__name__}")
    if kind == "L":
        return check_classes_of(what, value, 1).shape
    check_array(what, value, value.shape, {"i": np.int64, "b": np.bool_}.get(kind, np.float64))
    if kind in _LEAST and not (value >= _LEAST[kind]).all():
        raise DataError(f"{what} is {'below' if kind == 'z' else 'not above'} 0")
    return value.shape


def _check_numbers(what: str, value: Any) -> None:
    """Raise `DataError` if a number or an array is not finite, or not float64."""
    numbers = np.asarray(value if isinstance(value, np.ndarray | float | np.floating) else 0)
    learnt = isinstance(value, np.ndarray) and not what.startswith("classes_")  # labels may be any
    if learnt and numbers.dtype.kind == "f" and numbers.itemsize != 8:
        raise DataError(f"{what} is {numbers.dtype}")
    # The limits are beyond float32.
    if numbers.dtype.kind == "f" and not (np.abs(numbers.astype(np.float64)) <= LARGEST).all():
        raise DataError(f"{what} is not finite, or beyond {LARGEST:g}")


def _ask(part: BaseEstimator) -> None:
    """Raise `DataError` if trial predictions of an estimator have an impossible shape or value."""
    rows, n_classes = _rows(part), len(getattr(part, "classes_", ()))
    for name in _ANSWERS:
        if not hasattr(part, name):
            continue
        answer = getattr(part, name)(rows)
        shape: tuple[int, ...] = (len(rows), n_classes)
        if name == "predict" or (name == "decision_function" and n_classes == 2):
            shape = shape[:1]
        if name == "transform":
            shape = (len(rows), *np.shape(answer)[1:])
        found = np.asarray(answer)
        given = found[:4] if name == "transform" else found  # scalers hand missing values on
        if found.shape != shape or (found.dtype.kind == "f" and not np.isfinite(given).all()):
            raise DataError(f"{name} of {type(part).__name__} has no answer for a row")
        if name == "predict" and not np.isin(found, part.classes_).all():
            raise DataError(f"{type(part).__name__} predicts another class")
        if name == "predict_proba" and np.abs(found.sum(axis=1) - 1).max() > 1e-6:
            raise DataError(f"probabilities of {type(part).__name__} do not add up")


def _ask_of_items(part: Any) -> None:
    """Raise `DataError` if a learnt similarity fails on three items."""
    from deepcac.similarity.itemset import ItemSet

    pairs = getattr(part, "_map", None)
    n_features = part.n_features_in_ if pairs is None else pairs._map.n_features_in_
    items = ItemSet(np.eye(3, n_features))
    similarity, clusters = part.similarity(items), part.predict(items, 2)
    if similarity.shape != (3, 3) or not np.isfinite(similarity).all() or len(clusters) != 3:
        raise DataError(f"{type(part).__name__} has no answer for items")


def _rows(part: Any) -> Any:
    """Return trial rows: zeros, first and last levels, and missing values where allowed."""
    zeros = np.zeros((5, part.n_features_in_))
    if get_tags(part).input_tags.allow_nan:
        zeros[4] = np.nan
    names, levels = getattr(getattr(part, "estimator_", part), "_columns", None) or ((), {})
    if not levels:
        return zeros
    import pandas as pd

    if list(names) != list(part.feature_names_in_) or not set(levels) <= set(names):
        raise DataError("its columns are not those of its table")
    cells = {name: pd.Categorical([of[0], of[-1]] * 2 + [None], of) for name, of in levels.items()}
    return pd.DataFrame({name: cells.get(name, zeros[:, 0]) for name in names})


def check_answering(fitted: Any, given: Any) -> None:
    """Raise `DataError` unless `fitted` has the type and methods of the unfitted `given`."""
    if type(fitted) is not type(given):
        raise DataError(f"a {type(fitted).__name__} was fitted for a {type(given).__name__}")
    for name in _ANSWERS:
        if hasattr(fitted, name) != hasattr(given, name):
            raise DataError(f"a {type(fitted).__name__} answers by {name} as no clone of it does")


def _clusters(part: Any, lengths: Lengths) -> None:
    """Check the classifiers of clusters against the classes and the base classifier."""
    counts = part.class_counts_
    if not lengths["K"] or lengths["C"] < 2 or counts.min() < 0 or counts.max() > _MOST_ROWS:
        raise DataError("it has no clusters, classes or counts")
    for local, in_cluster in zip(part.estimators_, counts, strict=True):
        if not np.array_equal(local.classes_, np.flatnonzero(in_cluster)):
            raise DataError("a cluster's classifier has other classes than its rows")
        if getattr(local, "n_features_in_", lengths["D"]) != lengths["D"]:
            raise DataError("a cluster's classifier reads other columns")
        if not isinstance(local, DummyClassifier):
            check_answering(local, part._base())


def _planes(part: Any, lengths: Lengths) -> None:
    """Check the number of planes: one for two classes, else one per class."""
    n_classes = lengths["m"] if "m" in lengths else len(part._label_binarizer.classes_)
    planes = 1 if n_classes == 2 else n_classes
    shapes = [(planes, lengths["D"]), (lengths["D"],)][: 2 if planes == 1 else 1]
    if n_classes < 2 or lengths["o"] != planes or part.coef_.shape not in shapes:
        raise DataError(f"{lengths['o']} planes for {n_classes} classes")
    check_array("coef_", part.coef_, part.coef_.shape)


def _groups(part: Any, lengths: Lengths) -> None:
    """Check the classifier of groups, and the class of each group."""
    check_answering(part.estimator_, part._base())
    check_ids("_class_of_group", part._class_of_group, lengths["C"])
    if not np.array_equal(part.estimator_.classes_, np.arange(lengths["G"])):
        raise DataError("its groups are not those of its classifier")


def _landmarks(part: Any, lengths: Lengths) -> None:
    """Check that the kernel is one of scikit-learn's, by name and without parameters."""
    if part.kernel not in _KERNELS or part.kernel_params is not None:
        raise DataError(f"its kernel is {str(part.kernel)[:40]}, or has parameters of its own")


def _steps(part: Any, lengths: Lengths) -> None:
    """Check that the columns of each step of a pipeline fit the next."""
    part._validate_steps()
    if part.steps[-1][1] in (None, "passthrough"):
        raise DataError("it ends in no estimator")
    steps = [step for _, step in part.steps if hasattr(step, "n_features_in_")]
    rows = np.zeros((5, steps[0].n_features_in_)) if steps else None
    for step in steps[:-1]:
        if _name(step) not in STATES:  # merely trusted; it may read columns of text
            return
        rows = step.transform(rows)
    if rows is not None and np.shape(rows)[1] != steps[-1].n_features_in_:
        raise DataError(f"its last step takes {steps[-1].n_features_in_} columns")


_RULES = {
    **dict.fromkeys(("CACClassifier", "CACClassifierCV", "KMClassifier"), _clusters),
    **dict.fromkeys(("LogisticRegression", "LinearSVC", "NewtonSVC", "Perceptron"), _planes),
    **dict.fromkeys(("SGDClassifier", "RidgeClassifier", "LinearDiscriminantAnalysis"), _planes),
    "MetricKMClassifier": _clusters,
    "ClassDecompositionClassifier": _groups,
    "TableScaler": lambda part, lengths: part.check(),
    "Nystroem": _landmarks,
    "Pipeline": _steps,
}
