"""`save` and `load` for every public estimator; nothing in a file is executed.

Deep classifiers are safetensors with JSON in the header, all others the zip of JSON and arrays of
skops. `load` looks at the file to see which.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from deepcac import __version__
from deepcac.atomic import atomic_path
from deepcac.errors import DataError

FORMAT = 1
HEADER = "deepcac.json"
# Types that hold data only; a file with any other asks for `trusted`.
_CAC, _PARTS = "deepcac.cac.", "deepcac.decomposition."
TRUSTED = (
    "deepcac.base_classifiers.NearestClassMean",
    "deepcac.base_classifiers.Renumbered",
    _CAC + "cross_validated.CACClassifierCV",
    _CAC + "estimator.CACClassifier",
    _CAC + "km.KMClassifier",
    _CAC + "metric_km.MetricKMClassifier",
    _PARTS + "classifier.ClassDecompositionClassifier",
    _PARTS + "mixed.Columns",
    _PARTS + "mixed.Filler",
    _PARTS + "naive_bayes.Density",
    _PARTS + "naive_bayes.MixedNaiveBayes",
    _PARTS + "search.Step",
    _PARTS + "smo.Design",
    _PARTS + "smo.PairwiseLinearSVC",
    _PARTS + "smo.UnitPoints",
    "deepcac.newton_svm.NewtonSVC",
    "deepcac.preprocess.TableScaler",
    "deepcac.similarity.class_metric.ClassMetric",
    "deepcac.similarity.kernelmap.KernelMap",
    "deepcac.similarity.pair.PairSimilarity",
    "deepcac.similarity.supervised.SupervisedKMeans",
    "deepcac.similarity.weighted.EqualWeights",
    "deepcac.similarity.workingset.WorkingSet",
)


_DEEP = {
    "ACTPCClassifier": "deepcac.nn.ac_tpc",
    "CACDMNNClassifier": "deepcac.nn.dmnn",
    "DCNClassifier": "deepcac.nn.dcn",
    "DMNNClassifier": "deepcac.nn.dmnn",
    "DeepCACClassifier": "deepcac.nn.deepcac",
    "FNNClassifier": "deepcac.nn.fnn",
    "GRASPClassifier": "deepcac.nn.grasp",
    "IDECClassifier": "deepcac.nn.idec",
    "KMZClassifier": "deepcac.nn.km_z",
    "SubtypeClassifier": "deepcac.subtyping.subtype_classifier",
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or a scikit-learn pipeline of such, to one file.

    Parameters
    ----------
    model : estimator
        A deep classifier must stand alone, not in a pipeline; its `preprocess` scales the rows.
    path : path-like
        Any ending; the whole file is there or none.

    Raises
    ------
    DataError
        Something in the model cannot be written without running code when it is read.
    """
    check_is_fitted(model)
    if callable(getattr(model, "save", None)):
        model.save(path)
        return
    import skops.io

    header = {"format": FORMAT, "version": __version__, "estimator": type(model).__name__}
    try:
        content = BytesIO(skops.io.dumps(model))
    except Exception as error:  # each kind of object fails in its own way
        reason = " ".join(str(error).split())[:200]
        name = type(model).__name__
        raise DataError(
            f"{name} cannot be saved ({reason}); a deep classifier must be saved by itself"
        ) from error
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(HEADER, json.dumps(header, sort_keys=True))
    with atomic_path(path) as partial:
        partial.write_bytes(content.getvalue())


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = (), device: str = "auto") -> Any:
    """Read an estimator that `save` wrote.

    Parameters
    ----------
    path : path-like
    trusted : iterable of str
        Further types in the model, such as "mymodule.MyClassifier". Those of this package are
        known, and those of scikit-learn but for trees.
    device : str
        Where a deep classifier computes.

    Raises
    ------
    DataError
        The file is no model, is damaged, or holds a type that is not trusted.
    """
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file")
    if not zipfile.is_zipfile(path):
        return _load_deep(path, device)
    import skops.io

    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a model file of deepcac.save") from error
    if header.get("format") != FORMAT:
        raise DataError(f"{path}: of another format than {FORMAT}; fit and save it again")
    try:
        return skops.io.load(path, trusted=[*TRUSTED, *trusted])
    except skops.io.exceptions.UntrustedTypesFoundException as error:
        raise DataError(f"{path}: {error}; name it in trusted=[...] if you trust it") from error
    except Exception as error:  # a damaged file fails anywhere
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not a readable model file ({reason}); build it again") from error


def _load_deep(path: str | os.PathLike[str], device: str) -> Any:
    """Read a deep classifier by the name in its header."""
    from deepcac.nn.persistence import read_tensors

    name = read_tensors(path)[0].get("estimator")
    if name not in _DEEP:
        raise DataError(f"{path}: holds {name}, which is no estimator of deepcac")
    kind = getattr(import_module(_DEEP[name]), name)
    return kind.load(path, device=device)
