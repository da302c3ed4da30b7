"""`save` and `load` for every public estimator; nothing in a file is executed.

Deep classifiers are safetensors with JSON in the header, models of `deepcac fit` JSON, all others
the zip of JSON and arrays of skops. `load` distinguishes them by their content.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.utils.validation import check_is_fitted

from deepcac import __version__
from deepcac.errors import DataError, TrustWarning
from deepcac.files.atomic import atomic_path
from deepcac.files.saved_models import (
    MOST_BYTES,
    MOST_TEXT,
    check_patients,
    check_size,
    check_version,
    objects_in,
    reading,
)
from deepcac.persistence.fitted_state import check_state
from deepcac.persistence.model_nodes import named_types, untrusted_line
from deepcac.persistence.state_table import ALLOWED, ROUNDED, UNWRITTEN
from deepcac.task import rounded

FORMAT = 3
HEADER = "deepcac.json"
_STEP = "step{}.safetensors"  # a deep classifier in a pipeline
_DEEP = {
    "ACTPCClassifier": "deepcac.nn.ac_tpc",
    "CACDMNNClassifier": "deepcac.nn.dmnn",
    "DCNClassifier": "deepcac.nn.dcn",
    "DMNNClassifier": "deepcac.nn.dmnn",
    "DeepCACClassifier": "deepcac.nn.deepcac",
    "ExpertNetClassifier": "deepcac.nn.expertnet",
    "FNNClassifier": "deepcac.nn.fnn",
    "GRASPClassifier": "deepcac.nn.grasp",
    "IDECClassifier": "deepcac.nn.idec",
    "KMZClassifier": "deepcac.nn.km_z",
    "SubtypeClassifier": "deepcac.subtyping.subtype_classifier",
}


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    small_clusters: bool = False,
    trusted: bool = False,
) -> None:
    """Write a fitted estimator or scikit-learn pipeline to one file.

    Attributes of single training rows, such as `subtypes_`, are left out; counts are rounded to 5.

    Parameters
    ----------
    model : estimator
        Deep classifiers may be steps of a pipeline.
    path : path-like
        Any ending; the file is written atomically.
    small_clusters : bool
        Whether the mean of fewer than eight rows may be written: of a cluster, or of a class in
        one. Such a mean reveals a lot about its rows, so protect the file as you protect the table.
    trusted : bool
        Whether patients' rows may be written, which k-NN, support vectors and kernels hold.
        Whoever gets the file then has that part of the table.

    Raises
    ------
    DataError
        The model cannot be written without code that runs on loading, has a state that no `fit`
        produces, would describe single patients, or would be larger than `load` reads.

    Warns
    -----
    TrustWarning
        `load` will need `trusted` to read the file.
    """
    check_is_fitted(model)
    check_patients(model, small_clusters=small_clusters, trusted=trusted)
    if callable(getattr(model, "save", None)):
        model.save(path, **({"small_clusters": True} if small_clusters else {}))
        return
    model = _without_rows(model)
    content = _archive(model)
    with zipfile.ZipFile(content, "a") as archive:
        untrusted = named_types(archive)
        _refuse_impossible(model, untrusted)
        header = {
            "format": FORMAT,
            "version": __version__,
            "estimator": type(model).__name__,
            "digest": _digest(archive),
        }
        archive.writestr(HEADER, json.dumps(header, sort_keys=True))
        _check_sizes(archive)
    if untrusted:
        warnings.warn(f"{path}: {untrusted_line(untrusted)}", TrustWarning, stacklevel=2)
    with atomic_path(path) as partial:
        partial.write_bytes(content.getvalue())


def _without_rows(part: Any) -> Any:
    """Return a copy of a model without attributes of single rows, and with rounded counts."""
    if type(part) in (list, tuple, dict):
        parts = part.items() if isinstance(part, dict) else enumerate(part)
        copies = {name: _without_rows(value) for name, value in parts}
        return copies if isinstance(part, dict) else type(part)(copies.values())
    if (
        type(part).__name__ in _DEEP
        or hasattr(part, "_asdict")
        or next(objects_in(part), None) is None
    ):
        return part
    kept = copy.copy(part)
    state = vars(kept)
    for name in UNWRITTEN & state.keys():
        del state[name]
    for name, value in state.items():
        state[name] = rounded(value) if name in ROUNDED else _without_rows(value)
    return kept


def _archive(model: Any) -> BytesIO:
    """Return a skops zip in memory; each deep step of a pipeline is a separate file in it."""
    import skops.io

    deep = _deep_steps(model)
    if deep:
        model = copy.copy(model)
        model.steps = [
            (name, "passthrough" if place in deep else step)
            for place, (name, step) in enumerate(model.steps)
        ]
    try:
        content = BytesIO(skops.io.dumps(model))
    except Exception as error:  # each kind of object fails in its own way
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{type(model).__name__} cannot be saved ({reason})") from error
    with zipfile.ZipFile(content, "a") as archive, tempfile.TemporaryDirectory() as folder:
        for place, step in deep.items():
            part = Path(folder) / _STEP.format(place)
            step.save(part, small_clusters=True)  # it was checked with the whole
            archive.write(part, part.name)
    return content


def _deep_steps(model: Any) -> dict[int, Any]:
    """Return the deep classifiers among the steps of a pipeline, by position."""
    steps = getattr(model, "steps", ())
    return {place: step for place, (_, step) in enumerate(steps) if type(step).__name__ in _DEEP}


def _refuse_impossible(model: Any, untrusted: list[str]) -> None:
    """Raise `DataError` if `load` would refuse the model; its deep steps are not checked here."""
    try:
        check_state(model, {*untrusted, *_deep_names()})
    except Exception as error:  # a state that is changed by hand fails anywhere
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{type(model).__name__} cannot be saved: {reason}") from error


def _deep_names() -> set[str]:
    return {f"{module}.{name}" for name, module in _DEEP.items()}


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[str] | bool = (),
    device: str = "auto",
) -> Any:
    """Read an estimator that `save` or ``deepcac fit`` wrote.

    Parameters
    ----------
    path : path-like
    trusted : iterable of str, or bool
        Further types in the model, such as "mymodule.MyClassifier"; True trusts whatever the file
        names. Otherwise only types of this package and of scikit-learn are read whose whole state
        is checked: linear models, naive Bayes, nearest centroids, scalers, and pipelines of them.
    device : str
        Device of a deep classifier.

    Returns
    -------
    estimator
        A model of ``deepcac fit`` expects a DataFrame with the columns of its table.

    Raises
    ------
    DataError
        The file is no model, is damaged or too large, holds a type that is not trusted, or a
        state that no `fit` produces.

    Warns
    -----
    VersionWarning
        Another version of the package wrote it.
    """
    check_size(path)
    with open(path, "rb") as file:
        start = file.read(8)
    if start.startswith(b"PK"):
        return _load_archive(path, trusted if isinstance(trusted, bool) else tuple(trusted), device)
    if start.startswith(b"{") and b"\0" not in start:
        return _of_the_command("risk_model_file").read_risk_model(path)
    return _load_deep(path, device)


def _load_archive(
    path: str | os.PathLike[str], trusted: tuple[str, ...] | bool, device: str
) -> Any:
    """Return the estimator; DataError if its digest, types or state fail a check."""
    import skops.io

    with reading(path):
        try:
            with zipfile.ZipFile(path) as archive:
                _check_sizes(archive)
                header = json.loads(archive.read(HEADER))
                digest, named = _digest(archive), named_types(archive)
                deep = [name for name in archive.namelist() if name.endswith(".safetensors")]
        except KeyError as error:
            raise DataError(f"{path}: not a model file of deepcac.save") from error
        if header.get("format") != FORMAT:
            raise DataError(f"{path}: of another format than {FORMAT}; fit and save it again")
        if header["digest"] != digest:
            raise DataError("its digest does not hold")
        check_version(path, header["version"])
        vouched = set(named if trusted is True else trusted or ())
        untrusted = [name for name in named if name not in vouched]
        if untrusted:
            raise DataError(f"{path}: {untrusted_line(untrusted)}")
        model = skops.io.load(path, trusted=[*ALLOWED, *vouched])
        if type(model).__name__ != header["estimator"]:
            raise DataError(f"holds a {type(model).__name__}, its header says another")
        if deep:
            _put_deep_steps(model, path, deep, device)
        check_state(model, vouched | _deep_names())
        return model


def _put_deep_steps(
    model: Any, path: str | os.PathLike[str], names: list[str], device: str
) -> None:
    """Load the deep classifiers of an archive into their steps of the pipeline, in place."""
    places = {_STEP.format(place): place for place in range(len(getattr(model, "steps", ())))}
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in places or model.steps[places[name]][1] != "passthrough":
                raise DataError(f"{name[:40]} has no place in the model")
            step = _load_deep(archive.extract(name, folder), device)
            model.steps[places[name]] = (model.steps[places[name]][0], step)


def _check_sizes(archive: zipfile.ZipFile) -> None:
    """Raise `DataError` for compressed, repeated or too large members, which could fill memory."""
    members = archive.infolist()
    names = {member.filename for member in members}
    if len(names) != len(members):
        raise DataError("a part occurs twice")
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
    """Import the module ``deepcac.table.{name}``, which reads models of the command."""
    try:
        return import_module(f"deepcac.table.{name}")
    except ModuleNotFoundError as error:
        message = f"a model of `deepcac fit` needs {error.name}: pip install 'deepcac[tables]'"
        raise ModuleNotFoundError(message, name=error.name) from error


def _load_deep(path: str | os.PathLike[str], device: str) -> Any:
    """Read a deep classifier, whose class the header names."""
    from deepcac.nn.persistence import read_tensors

    header = read_tensors(path)[0]
    if "table" in header:
        return _of_the_command("subtype_model").read_subtype_model(path, device)
    name = header.get("estimator")
    if not isinstance(name, str) or name not in _DEEP:
        raise DataError(f"{path}: holds {name}, which is no estimator of deepcac")
    kind = getattr(import_module(_DEEP[name]), name)
    return kind.load(path, device=device)
