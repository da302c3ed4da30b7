"""The positive list of what a model file may hold: types of which the whole state is checked.

The list is compared with what a file names before anything in it is made, so that no compiled
code of another library sees its arrays.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from deepcac.errors import DataError

_CAC, _PARTS, _SIMILAR = "deepcac.cac.", "deepcac.decomposition.", "deepcac.similarity."
# Types of this package that hold data only; skops asks for each by its name.
OF_DEEPCAC = (
    "deepcac.linear.base_classifiers.NearestClassMean",
    "deepcac.linear.base_classifiers.Renumbered",
    _CAC + "cross_validated.CACClassifierCV",
    _CAC + "estimator.CACClassifier",
    _CAC + "km.KMClassifier",
    _CAC + "metric_km.MetricKMClassifier",
    _PARTS + "classifier.ClassDecompositionClassifier",
    _PARTS + "mixtures.mixed.Columns",
    _PARTS + "mixtures.mixed.Filler",
    _PARTS + "mixtures.naive_bayes.Density",
    _PARTS + "mixtures.naive_bayes.MixedNaiveBayes",
    _PARTS + "search.Step",
    _PARTS + "smo.Design",
    _PARTS + "smo.PairwiseLinearSVC",
    _PARTS + "smo.UnitPoints",
    "deepcac.linear.newton_svm.NewtonSVC",
    "deepcac.preprocess.TableScaler",
    _SIMILAR + "class_metric.ClassMetric",
    _SIMILAR + "kernelmap.KernelMap",
    _SIMILAR + "pair.PairSimilarity",
    _SIMILAR + "supervised.SupervisedKMeans",
    _SIMILAR + "weighted.EqualWeights",
    _SIMILAR + "workingset.WorkingSet",
)
# Estimators of scikit-learn with a state in `fitted_state`, which they answer from by numpy.
OF_SKLEARN = (
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.dummy.DummyClassifier",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.linear_model._perceptron.Perceptron",
    "sklearn.linear_model._ridge.RidgeClassifier",
    "sklearn.linear_model._stochastic_gradient.SGDClassifier",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.neighbors._nearest_centroid.NearestCentroid",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.svm._classes.LinearSVC",
    "sklearn.tree._classes.DecisionTreeClassifier",  # its compiled tree must be trusted
)
_DATA = (
    *(f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "str", "tuple")),
    *(f"numpy.{name}" for name in ("ndarray", "dtype", "bool", "bool_", "str_")),
    *(f"numpy.{kind}{bits}" for kind in ("float", "int") for bits in (32, 64)),
    "numpy.random.mtrand.RandomState",
    "sklearn._loss._loss.CyHalfBinomialLoss",  # of SGDClassifier, which asks it in fit only
    "sklearn.linear_model._sgd_fast.Hinge",
)
_LOADERS = (
    *("CachedNode", "DTypeNode", "DictNode", "JsonNode", "ListNode", "LossNode", "NdArrayNode"),
    *("ObjectNode", "RandomStateNode", "TupleNode", "TypeNode"),
)
ALLOWED = frozenset((*OF_DEEPCAC, *OF_SKLEARN, *_DATA))
SCHEMA = "schema.json"


def named_types(archive: zipfile.ZipFile) -> list[str]:
    """Return what a file of skops names and is not on the list, each once, in order."""
    try:
        schema = json.loads(archive.read(SCHEMA))
    except RecursionError as error:
        raise DataError("its parts lie too deep in each other") from error
    names = (name for name, loader in _nodes(schema) if not _is_allowed(name, loader))
    return list(dict.fromkeys(names))


def _is_allowed(name: str, loader: object) -> bool:
    return name in ALLOWED and loader in _LOADERS


def _nodes(value: Any) -> Iterator[tuple[str, object]]:
    """Yield type and loader of every node of a schema."""
    inside: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        if "__class__" in value or "__loader__" in value:
            name = f"{value.get('__module__')}.{value.get('__class__')}"
            yield name, value.get("__loader__")
        inside = value.values()
    for part in inside:
        yield from _nodes(part)


def untrusted_line(names: Iterable[str]) -> str:
    """Say what a file holds that is not on the list."""
    return (
        f"holds a {', a '.join(names)}, whose state cannot be checked; name it in trusted=[...] "
        "if you trust it, or say trusted=True"
    )
