"""What belongs together inside one fitted estimator, beyond the lengths of its arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from deepcac.errors import DataError
from deepcac.files.saved_models import check_array, check_ids

Lengths = dict[str, int]
_ASKED = ("predict_proba", "decision_function")
_MOST_ROWS = 2**40


def check_answering(fitted: Any, given: Any) -> None:
    """Refuse a fitted estimator of another kind than the one that it was cloned from."""
    if type(fitted) is not type(given):
        raise DataError(f"a {type(fitted).__name__} was fitted for a {type(given).__name__}")
    for name in _ASKED:
        if hasattr(fitted, name) != hasattr(given, name):
            raise DataError(f"a {type(fitted).__name__} answers by {name} as no clone of it does")


def _clusters(part: Any, lengths: Lengths) -> None:
    """Compare the classifiers of the clusters with the classes and the base classifier."""
    counts = check_array(
        "class_counts_", part.class_counts_, (lengths["K"], lengths["C"]), np.int64
    )
    if (counts < 0).any() or counts.max(initial=0) > _MOST_ROWS:
        raise DataError("class_counts_ are no counts")
    if not lengths["K"] or lengths["C"] < 2 or "D" not in lengths:
        raise DataError("it has no clusters, classes or columns")
    sizes = np.bincount(
        check_ids("subtypes_", part.subtypes_, lengths["K"]), minlength=lengths["K"]
    )
    if not np.array_equal(sizes, counts.sum(axis=1)) or not sizes.all():
        raise DataError("class_counts_ are not those of its rows")
    base = part._base()
    for local, class_counts in zip(part.estimators_, counts, strict=True):
        classes = check_ids("classes_ of a cluster", local.classes_, lengths["C"])
        if not np.array_equal(classes, np.flatnonzero(class_counts)):
            raise DataError("a cluster's classifier has other classes than its rows")
        width = getattr(local, "n_features_in_", lengths["D"])
        if width != lengths["D"]:
            raise DataError(f"a cluster's classifier reads {width} columns, of {lengths['D']}")
        if not isinstance(local, DummyClassifier):
            check_answering(local, base)


def _metric(part: Any, lengths: Lengths) -> None:
    _clusters(part, lengths)
    if (part.metric is None) != (part.metric_ is None):
        raise DataError("metric_ is that of another model")
    if part.metric_ is not None:
        check_answering(part.metric_, part.metric)
        if part.metric_.n_features_in_ != lengths["D"] or (part.metric_.weights_ < 0).any():
            raise DataError("metric_ is of other columns")


def _planes(part: Any, lengths: Lengths) -> None:
    """Compare planes with classes: one for two of them."""
    if lengths["m"] < 2 or lengths["o"] != (1 if lengths["m"] == 2 else lengths["m"]):
        raise DataError(f"{lengths['o']} planes for {lengths['m']} classes")


def _ridge(part: Any, lengths: Lengths) -> None:
    """Of two classes the coefficients have one axis."""
    classes = part._label_binarizer.classes_
    planes = 1 if len(classes) == 2 else len(classes)
    shape = (lengths["D"],) if part.coef_.ndim == 1 else (planes, lengths["D"])
    check_array("coef_", part.coef_, shape)
    check_array("intercept_", part.intercept_, (planes,))
    if part.coef_.ndim == 1 and planes > 1:
        raise DataError("one plane for several classes")
    if getattr(part, "classes_", classes) is not classes and not np.array_equal(
        part.classes_, classes
    ):
        raise DataError("classes_ are not those of its planes")


def _binarizer(part: Any, lengths: Lengths) -> None:
    if part.neg_label >= part.pos_label or part.sparse_input_ is not False:
        raise DataError("its labels are made of no classes")
    if part.y_type_ not in ("binary", "multiclass"):
        raise DataError("its labels are no classes")


def _discriminant(part: Any, lengths: Lengths) -> None:
    _planes(part, lengths)
    if hasattr(part, "scalings_"):
        check_array("scalings_", part.scalings_, (lengths["D"], part.scalings_.shape[1]))
        if hasattr(part, "xbar_"):
            check_array("xbar_", part.xbar_, (lengths["D"],))
        most = getattr(part, "_max_components", None)
        if type(most) is not int or not 0 <= most <= lengths["m"]:
            raise DataError("its components are no number")


def _bayes(part: Any, lengths: Lengths) -> None:
    _shares("class_prior_", part.class_prior_)


def _shares(what: str, shares: Any) -> None:
    if not ((shares > 0).all() and abs(shares.sum() - 1) < 1e-6):
        raise DataError(f"{what} are no shares")


def _constant(part: Any, lengths: Lengths) -> None:
    """Check what a constant answer is made of."""
    if part.strategy not in ("most_frequent", "prior") or part._strategy != part.strategy:
        raise DataError("its answer is not constant")
    if (part.n_outputs_, part.n_classes_, part.sparse_output_) != (1, lengths["m"], False):
        raise DataError("it answers other classes")
    _shares("class_prior_", part.class_prior_)


def _nearest(part: Any, lengths: Lengths) -> None:
    if not np.array_equal(part.model_.classes_, part.classes_):
        raise DataError("its means are of other classes")


def _renumbered(part: Any, lengths: Lengths) -> None:
    check_answering(part.classifier_, part.classifier)
    if not np.array_equal(part.classifier_.classes_, np.arange(lengths["m"])):
        raise DataError("its classifier has other classes")


def _groups(part: Any, lengths: Lengths) -> None:
    check_answering(part.estimator_, part._base())
    of_class = check_ids("_class_of_group", part._class_of_group, lengths["C"])
    groups = check_ids("classes_ of the groups", part.estimator_.classes_, lengths["G"])
    if len(groups) != lengths["G"] or len(np.unique(of_class)) != lengths["C"]:
        raise DataError(f"{lengths['G']} groups, of {len(groups)}")
    if getattr(part.estimator_, "n_features_in_", lengths["D"]) != lengths["D"]:
        raise DataError("its groups are of other columns")


def _levels(part: Any, lengths: Lengths) -> list[int]:
    """Return the number of levels of each category, which must be columns of the table."""
    names, levels = part._columns
    given = list(getattr(part, "feature_names_in_", ()))
    if not isinstance(levels, dict) or not isinstance(names, tuple):
        raise DataError("its columns are none")
    if (levels and list(names) != given) or not set(levels) <= set(names):
        raise DataError("its columns are not those of its table")
    if bool(levels) != bool(getattr(part, "_nominal", False)):
        raise DataError("its columns are read another way")
    if any(
        not isinstance(column, tuple) or len(set(column)) != len(column)
        for column in levels.values()
    ):
        raise DataError("the levels of a column stand twice")
    return [len(column) for column in levels.values()]


def _design(design: Any, sizes: list[int], numbers: int) -> int:
    """Compare a design with the columns of a table; return the coordinates that it makes."""
    modes = check_array("modes", design.filler.modes, (len(sizes),), np.int64)
    if len(design.low) != numbers or len(design.filler.means) != numbers:
        raise DataError("its design is of other columns")
    if (modes < 0).any() or (modes >= np.maximum(sizes, 1)).any():
        raise DataError("its design fills with no level")
    return numbers + sum(1 if size == 2 else size if size > 2 else 0 for size in sizes)


def _pairs(part: Any, lengths: Lengths) -> None:
    sizes, groups = _levels(part, lengths), lengths["G"]
    width = _design(part._design, sizes, lengths["D"] - len(sizes)) + 1
    if groups < 2 or (lengths["v"], lengths["e"]) != (groups * (groups - 1) // 2, width):
        raise DataError(f"planes_ are {lengths['v']} of {lengths['e']} coordinates")


def _points(part: Any, lengths: Lengths) -> None:
    sizes = _levels(part, lengths)
    _design(part.design_, sizes, lengths["D"] - len(sizes))


def _densities(part: Any, lengths: Lengths) -> None:
    sizes = _levels(part, lengths)
    if lengths["P"] != lengths["D"] - len(sizes) or lengths["G"] < 1:
        raise DataError("its densities are of other columns")
    for density in part.densities_:
        whole = isinstance(density.size, float | int) and 0 <= density.size <= _MOST_ROWS
        if len(density.log_share) != sum(sizes) or not whole:
            raise DataError("a density is of other levels")


def _cuts(part: Any, lengths: Lengths) -> None:
    """Compare learnt weights with the program that they came from; a bias is one more."""
    expected = part.cutting_planes_.n_features - (type(part).__name__ == "PairSimilarity")
    if len(part.weights_) != expected:
        raise DataError(f"{len(part.weights_)} weights, of {expected}")


def _landmarks(part: Any, lengths: Lengths) -> None:
    if part.kernel not in ("rbf", "linear", "poly", "polynomial", "sigmoid", "laplacian", "cosine"):
        raise DataError(f"its kernel is {str(part.kernel)[:40]}")
    if part.kernel_params is not None:
        raise DataError("its kernel has parameters of its own")


def _standard(part: Any, lengths: Lengths) -> None:
    for name, wanted in (("mean_", part.with_mean), ("scale_", part.with_std)):
        _scale(part, name, wanted, lengths)


def _robust(part: Any, lengths: Lengths) -> None:
    for name, wanted in (("center_", part.with_centering), ("scale_", part.with_scaling)):
        _scale(part, name, wanted, lengths)


def _scale(part: Any, name: str, wanted: bool, lengths: Lengths) -> None:
    if (getattr(part, name, None) is not None) != bool(wanted):
        raise DataError(f"{name} is not as its parameters say")
    if wanted:
        check_array(name, getattr(part, name), (lengths["D"],), above=name == "scale_")


def _imputer(part: Any, lengths: Lengths) -> None:
    if part.indicator_ is not None or part.add_indicator:
        raise DataError("an imputer with flags cannot be checked")
    check_array("statistics_", part.statistics_, (lengths["D"],))
    if any(kind != np.float64 for kind in (part._fit_dtype, part._fill_dtype)):
        raise DataError("an imputer of other values than float64 cannot be checked")


def _steps(part: Pipeline, lengths: Lengths) -> None:
    """Compare what each step gives with what the next one takes."""
    if not isinstance(part.steps, list) or not part.steps:
        raise DataError("it has no steps")
    part._validate_steps()
    if part.steps[-1][1] in (None, "passthrough"):
        raise DataError("it ends in no estimator")
    width: int | None = None
    for _, step in part.steps:
        if step is None or step == "passthrough":
            continue
        takes = getattr(step, "n_features_in_", None)
        if width is not None and takes is not None and takes != width:
            raise DataError(f"a step takes {takes} columns, of {width}")
        width = _width_out(step)


def _width_out(step: Any) -> int | None:
    """Return how many columns a step gives, None if that is not known here."""
    if type(step).__name__ == "TableScaler":
        return int(step.kept_.sum())
    if type(step).__name__ in ("StandardScaler", "MinMaxScaler", "RobustScaler", "SimpleImputer"):
        return int(step.n_features_in_)
    return None


_CLUSTERED = ("CACClassifier", "CACClassifierCV", "KMClassifier")
_LINEAR = ("LogisticRegression", "LinearSVC", "NewtonSVC", "Perceptron", "SGDClassifier")
RULES: dict[str, Callable[[Any, Lengths], None]] = {
    **dict.fromkeys(_CLUSTERED, _clusters),
    **dict.fromkeys(_LINEAR, _planes),
    "MetricKMClassifier": _metric,
    "TableScaler": lambda part, lengths: part.check(),
    "ClassDecompositionClassifier": _groups,
    "PairwiseLinearSVC": _pairs,
    "UnitPoints": _points,
    "MixedNaiveBayes": _densities,
    "NearestClassMean": _nearest,
    "Renumbered": _renumbered,
    "SupervisedKMeans": _cuts,
    "PairSimilarity": _cuts,
    "LinearDiscriminantAnalysis": _discriminant,
    "RidgeClassifier": _ridge,
    "LabelBinarizer": _binarizer,
    "GaussianNB": _bayes,
    "DummyClassifier": _constant,
    "Nystroem": _landmarks,
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "SimpleImputer": _imputer,
    "Pipeline": _steps,
}
