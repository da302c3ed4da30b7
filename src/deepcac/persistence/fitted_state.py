"""What fitted estimators hold: lengths that belong together, numbers that can be learnt.

A file that names known types only can still hold a state that no `fit` leaves. Here each type's
arrays are compared with each other before the first prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from deepcac.errors import DataError
from deepcac.files.saved_models import LARGEST, SMALLEST, check_classes_of, check_count, check_ids

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
    "Density": {"mean": "P", "sd": "P", "log_share": "L"},
    "Design": {"low": "P", "reach": "P"},
    "Filler": {"means": "P", "modes": "N"},
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
    "RidgeClassifier": {"coef_": "oD", "intercept_": "o"},
    "LinearDiscriminantAnalysis": _LINEAR,
    "NearestCentroid": {"classes_": "m", "centroids_": "mD"},
    "GaussianNB": {"classes_": "m", "theta_": "mD", "var_": "mD", "class_prior_": "m"},
    "StandardScaler": {},
}
_ABOVE_0 = ("scale_", "sd", "reach", "widths_", "var_")
# Compiled code takes their arrays unseen, and a false one ends the process.
_COMPILED = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "HistGradientBoostingClassifier")
_TREES = ("sklearn.tree._tree", "sklearn.neighbors._kd_tree", "sklearn.neighbors._ball_tree")
Lengths = dict[str, int]


def check_state(model: Any, trusted: Iterable[str] = ()) -> None:
    """Refuse a loaded model that no `fit` can have left.

    Parameters
    ----------
    model : estimator
        Or a pipeline of such.
    trusted : iterable of str
        Types that the user vouches for.

    Raises
    ------
    DataError
        An attribute is missing, or arrays do not fit each other, or a number is not finite, or
        the model cannot answer rows of its own.
    """
    if not isinstance(model, BaseEstimator):
        raise DataError(f"holds a {type(model).__name__}, which is no estimator")
    _check(model, {}, frozenset(trusted), set())
    _try(model)


def _check(each: Any, lengths: Lengths, trusted: frozenset[str], seen: set[int]) -> None:
    """Check an object and what it holds; `lengths` are those of the objects around it."""
    if id(each) in seen:
        return
    seen.add(id(each))
    own, kind = _parts(each), type(each).__name__
    if isinstance(each, BaseEstimator):
        _check_estimator(each, own, trusted)
    inside: Lengths = lengths if not isinstance(each, BaseEstimator) else {}
    if kind in _STATES:
        found = _measure(each, own, dict(lengths))
        if kind in _RULES:
            _RULES[kind](each, found)
        inside = {letter: length for letter, length in found.items() if letter.isupper()}
    for name, value in own.items():
        given = isinstance(each, BaseEstimator) and name in each._get_param_names()
        if not given or name == "steps":  # what else is given is not fitted
            for one in _objects(value):
                _check(one, inside, trusted, seen)


def _check_estimator(each: BaseEstimator, own: dict[str, Any], trusted: frozenset[str]) -> None:
    kind = type(each)
    for one in (kind, *map(type, own.values())):
        compiled = one.__name__ in _COMPILED or one.__module__ in _TREES
        if compiled and f"{one.__module__}.{one.__name__}" not in trusted:
            raise DataError(
                f"holds a {one.__module__}.{one.__name__}, whose compiled code takes any array; "
                "name it in trusted=[...] if you trust it"
            )
    missing = [name for name in kind._get_param_names() if name not in own]
    if missing:
        raise DataError(f"{kind.__name__} has no {missing[0]}")


def _measure(each: Any, own: dict[str, Any], lengths: Lengths) -> Lengths:
    """Compare the arrays of an object with each other; return their lengths by letter."""
    kind = type(each).__name__
    if isinstance(each, BaseEstimator) and "n_features_in_" in own:
        _same(
            kind, "n_features_in_", "D", check_count("n_features_in_", each.n_features_in_), lengths
        )
    for name, letters in _STATES[kind].items():
        if name not in own:
            raise DataError(f"{kind} has no {name}")
        for letter, length in zip(letters, _shape(kind, name, own[name], letters), strict=True):
            _same(kind, name, letter, length, lengths)
    for name, value in own.items():
        if name != "_room":  # of a working set: what is not yet filled is of no account
            _check_numbers(f"{name} of {kind}", value, name in _ABOVE_0)
    if "classes_" in own:
        check_classes_of(f"classes_ of {kind}", own["classes_"], 1)
    return lengths


def _shape(kind: str, name: str, value: Any, letters: str) -> tuple[int, ...]:
    if not letters:  # it must be there, no more
        return ()
    if not isinstance(value, np.ndarray | list):
        raise DataError(f"{name} of {kind} is a {type(value).__name__}")
    shape = (len(value),) if isinstance(value, list) else value.shape
    if len(shape) != len(letters):
        raise DataError(f"{name} of {kind} has {len(shape)} axes, not {len(letters)}")
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.dtype.itemsize != 8:
        raise DataError(f"{name} of {kind} is {value.dtype}")
    return shape


def _same(kind: str, name: str, letter: str, length: int, lengths: Lengths) -> None:
    if lengths.setdefault(letter, length) != length:
        raise DataError(f"{name} of {kind} has {length} where {lengths[letter]} were expected")


def _check_numbers(what: str, value: Any, above: bool) -> None:
    if not isinstance(value, np.ndarray | float | np.floating):
        return
    values = np.asarray(value)
    if values.dtype.kind == "f" and not (np.abs(values) <= LARGEST).all():
        raise DataError(f"{what} is not finite, or beyond {LARGEST:g}")
    if values.dtype.kind == "f" and above and not (values >= SMALLEST).all():
        raise DataError(f"{what} is not above 0")


def _parts(each: Any) -> dict[str, Any]:
    if hasattr(each, "_asdict"):
        return each._asdict()
    return vars(each) if hasattr(each, "__dict__") else {}


def _objects(value: Any) -> Iterator[Any]:
    """Yield estimators and records in a value, a list or a dict of them."""
    if isinstance(value, BaseEstimator) or hasattr(value, "_asdict"):
        yield value
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _objects(one)
    elif type(value).__name__ in ("KernelMap", "WorkingSet"):
        yield value


def _clusters(each: Any, found: Lengths) -> None:
    """Compare the classifiers of the clusters with the classes."""
    check_ids("subtypes_", each.subtypes_, found["K"])
    if (each.class_counts_ < 0).any() or each.class_counts_.dtype.kind not in "if":
        raise DataError("class_counts_ are no counts")
    if not found["K"] or found["C"] < 2 or "D" not in found:
        raise DataError("it has no clusters, classes or columns")
    for local in each.estimators_:
        check_ids("classes_ of a cluster", local.classes_, found["C"])
        width = getattr(local, "n_features_in_", found["D"])
        if width != found["D"]:
            raise DataError(f"a cluster's classifier reads {width} columns, of {found['D']}")


def _planes(each: Any, found: Lengths) -> None:
    """Compare planes with classes: one for two of them."""
    classes = found.get("m", found["o"] if found["o"] > 1 else 2)
    if classes < 2 or found["o"] != (1 if classes == 2 else classes):
        raise DataError(f"{found['o']} planes for {classes} classes")


def _groups(each: Any, found: Lengths) -> None:
    check_ids("_class_of_group", each._class_of_group, found["C"])
    groups = check_ids("classes_ of the groups", each.estimator_.classes_, found["G"])
    if len(groups) != found["G"]:
        raise DataError(f"{found['G']} groups, of {len(groups)}")


def _pairs(each: Any, found: Lengths) -> None:
    columns, groups = each._columns, found["G"]
    sizes = [len(levels) for levels in columns.levels.values()]
    numbers = found["D"] - len(sizes)
    width = numbers + sum(1 if size == 2 else size if size > 2 else 0 for size in sizes) + 1
    modes = each._design.filler.modes
    if len(each._design.low) != numbers or len(modes) != len(sizes):
        raise DataError("its design is of other columns")
    if (modes < 0).any() or (modes >= np.maximum(sizes, 1)).any():
        raise DataError("its design fills with no level")
    if (found["v"], found["e"]) != (groups * (groups - 1) // 2, width):
        raise DataError(f"planes_ are {found['v']} of {found['e']} coordinates")


def _densities(each: Any, found: Lengths) -> None:
    sizes = [len(levels) for levels in each._columns.levels.values()]
    if found["P"] != found["D"] - len(sizes):
        raise DataError("its densities are of other columns")
    for one in each.densities_:
        if len(one.log_share) != sum(sizes) or not (np.isfinite(one.size) and one.size >= 0):
            raise DataError("a density is of other levels")


def _cuts(each: Any, found: Lengths) -> None:
    """Compare learnt weights with the program that they came from; a bias is one more."""
    expected = each.cutting_planes_.n_features - (type(each).__name__ == "PairSimilarity")
    if len(each.weights_) != expected:
        raise DataError(f"{len(each.weights_)} weights, of {expected}")


_RULES: dict[str, Any] = {
    **{kind: _clusters for kind, own in _STATES.items() if "subtypes_" in own},
    "TableScaler": lambda each, found: each.check(),
    "ClassDecompositionClassifier": _groups,
    "PairwiseLinearSVC": _pairs,
    "MixedNaiveBayes": _densities,
    "SupervisedKMeans": _cuts,
    "PairSimilarity": _cuts,
    **{kind: _planes for kind, own in _STATES.items() if "coef_" in own},
}


def _try(model: Any) -> None:
    """Ask the model about rows of its own; an answer that is none is a `DataError`."""
    width = getattr(model, "n_features_in_", None)
    if width is None or not hasattr(model, "predict") or _levels(model):
        return
    rows = np.vstack([np.zeros((1, width)), np.ones((1, width)), np.full((1, width), -1.0)])
    centres = getattr(model, "cluster_centers_", None)
    if centres is not None:
        rows = np.vstack([rows, centres])
    names = getattr(model, "feature_names_in_", None)
    if names is not None and len(set(names)) != width:
        raise DataError("feature_names_in_ are not one different name a column")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = check_classes_of("classes_", model.classes_)
        if not np.isin(model.predict(rows), classes).all():
            raise DataError("it predicts what is no class of it")
        if hasattr(model, "predict_proba"):
            risk = model.predict_proba(rows)
            whole = np.abs(risk.sum(axis=1) - 1) < 1e-6
            if risk.shape != (len(rows), len(classes)) or not (whole.all() and (risk >= 0).all()):
                raise DataError("its probabilities are none")


def _levels(model: Any) -> bool:
    """Tell whether a model reads text, of which no row can be made up."""
    inner = [step for _, step in getattr(model, "steps", [])] or [model]
    inner += [each.estimator_ for each in inner if hasattr(each, "estimator_")]
    return any(getattr(each, "_columns", ((), {}))[1] for each in inner)
