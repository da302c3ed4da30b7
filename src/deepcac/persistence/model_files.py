"""`save` and `load` for every public estimator; nothing in a file is executed.

Deep classifiers are safetensors with JSON in the header, models of `deepcac fit` JSON, all others
the zip of JSON and arrays of skops. `load` looks at the file to see which.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable
from importlib import import_module
from io import BytesIO
from types import ModuleType
from typing import Any

from sklearn.utils.validation import check_is_fitted

from deepcac import __version__
from deepcac.errors import DataError
from deepcac.files.atomic import atomic_path
from deepcac.files.saved_models import MOST_BYTES, MOST_TEXT, check_size, check_version, reading
from deepcac.persistence.fitted_state import check_state

FORMAT = 2
HEADER = "deepcac.json"
# Types that hold data only; a file with any other asks for `trusted`.
_CAC, _PARTS = "deepcac.cac.", "deepcac.decomposition."
TRUSTED = (
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
        Something in the model cannot be written without running code when it is read, or the
        file would be larger than `load` reads.
    """
    if callable(getattr(model, "save", None)):
        model.save(path)
        return
    check_is_fitted(model)
    import skops.io

    try:
        content = BytesIO(skops.io.dumps(model))
    except Exception as error:  # each kind of object fails in its own way
        reason = " ".join(str(error).split())[:200]
        name = type(model).__name__
        raise DataError(
            f"{name} cannot be saved ({reason}); a deep classifier must be saved by itself"
        ) from error
    with zipfile.ZipFile(content, "a") as archive:
        header = {
            "format": FORMAT,
            "version": __version__,
            "estimator": type(model).__name__,
            "digest": _digest(archive),
        }
        archive.writestr(HEADER, json.dumps(header, sort_keys=True))
        _check_sizes(archive)
    with atomic_path(path) as partial:
        partial.write_bytes(content.getvalue())


def load(path: str | os.PathLike[str], *, trusted: Iterable[str] = (), device: str = "auto") -> Any:
    """Read an estimator that `save` or ``deepcac fit`` wrote.

    Parameters
    ----------
    path : path-like
    trusted : iterable of str
        Further types in the model, such as "mymodule.MyClassifier". Those of this package are
        known, and those of scikit-learn but for trees and what libsvm computes.
    device : str
        Where a deep classifier computes.

    Returns
    -------
    estimator
        A model of ``deepcac fit`` takes a DataFrame with the columns of its table.

    Raises
    ------
    DataError
        The file is no model, is damaged or too large, holds a type that is not trusted, or a
        state that no `fit` leaves.

    Warns
    -----
    VersionWarning
        Another version of the package wrote it.
    """
    check_size(path)
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(b"PK"):
        return _load_archive(path, tuple(trusted))
    if start.startswith(b"{") and b"\0" not in start:
        return _of_the_command("risk_model_file").read_risk_model(path)
    return _load_deep(path, device)


def _load_archive(path: str | os.PathLike[str], trusted: tuple[str, ...]) -> Any:
    import skops.io

    with reading(path):
        try:
            with zipfile.ZipFile(path) as archive:
                _check_sizes(archive)
                header = json.loads(archive.read(HEADER))
                digest = _digest(archive)
        except KeyError as error:
            raise DataError(f"{path}: not a model file of deepcac.save") from error
        if header.get("format") != FORMAT:
            raise DataError(f"{path}: of another format than {FORMAT}; fit and save it again")
        if header["digest"] != digest:
            raise DataError("its digest does not hold")
        check_version(path, header["version"])
        try:
            model = skops.io.load(path, trusted=[*TRUSTED, *trusted])
        except skops.io.exceptions.UntrustedTypesFoundException as error:
            told = f"{path}: name it in trusted=[...] if you trust it: {error}"
            raise DataError(told) from error
        if type(model).__name__ != header["estimator"]:
            raise DataError(f"holds a {type(model).__name__}, its header says another")
        check_state(model, trusted)
        return model


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Refuse members that would take more memory than the file; they are stored as they are."""
    members = archive.infolist()
    names = {member.filename for member in members}
    if len(names) != len(members):
        raise DataError("a part stands twice")
    for member in members:
        text = member.filename.endswith(".json")
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise DataError(f"{member.filename[:40]} is compressed or encrypted")
        if member.file_size > (MOST_TEXT if text else MOST_BYTES):
            raise DataError(f"{member.filename[:40]} has {member.file_size:,} bytes")


def _digest(archive: zipfile.ZipFile) -> str:
    """Return the sha256 over the names and bytes of all parts but the header."""
    digest = hashlib.sha256()
    for name in sorted(archive.namelist()):
        if name != HEADER:
            content = archive.read(name)
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _of_the_command(name: str) -> ModuleType:
    """Return the module that reads a model of the command."""
    try:
        return import_module(f"deepcac.table.{name}")
    except ModuleNotFoundError as error:
        told = f"a model of `deepcac fit` needs {error.name}: pip install 'deepcac[tables]'"
        raise ModuleNotFoundError(told, name=error.name) from error


def _load_deep(path: str | os.PathLike[str], device: str) -> Any:
    """Read a deep classifier by the name in its header."""
    from deepcac.nn.persistence import read_tensors

    header = read_tensors(path)[0]
    if "table" in header:
        return _of_the_command("subtype_model").read_subtype_model(path, device)
    name = header.get("estimator")
    if not isinstance(name, str) or name not in _DEEP:
        raise DataError(f"{path}: holds {name}, which is no estimator of deepcac")
    kind = getattr(import_module(_DEEP[name]), name)
    return kind.load(path, device=device)
