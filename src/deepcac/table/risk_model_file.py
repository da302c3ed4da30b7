"""A risk model as JSON: written, and read only if `fit` could have made it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac import __version__
from deepcac.errors import DataError
from deepcac.files.output_files import StrPath
from deepcac.files.saved_models import (
    LARGEST,
    MOST_TEXT,
    SMALLEST,
    check_array,
    check_count,
    check_size,
    check_version,
    reading,
)
from deepcac.files.storage import read_json, write_json
from deepcac.judging.local_models import (
    FEWEST_KNOTS,
    MOST_KNOTS,
    MOST_TREES,
    BoostedTrees,
    Plane,
    Splines,
)
from deepcac.judging.resamples import OUTLIER
from deepcac.preprocess import LEARNT, TableScaler
from deepcac.table.budgeted_trials import BOOSTERS, bent_line, linear
from deepcac.table.reading.table_encoder import TableEncoder
from deepcac.table.risk_model import DIRECTIONS, RefitSpread, RiskModel
from deepcac.table.table_model import TableModel
from deepcac.task import rounded
from deepcac.tree_arrays import TreeArrays
from deepcac.types import Array

FORMAT, VERSION = "deepcac risk model", 4
_LEAST_GAP = 1e-3  # between knots, in standard deviations
_KINDS = {float: (int, float), int: (int,), bool: (bool,)}


def write_risk_model(path: StrPath, model: RiskModel) -> None:
    """Write a model with its format and a digest over all of it."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "software": __version__,
        **table_part(model),
        "centres": model.centres.tolist(),
        "knots": [{"column": j, "at": at.tolist()} for j, at in model.splines.knots.items()],
        "parts": [_arrays(part) for part in model.parts],
    }
    if model.spread is not None:
        content["spread"] = {
            "centre": model.spread.centre.tolist(),
            "directions": model.spread.directions.tolist(),
            "rest": model.spread.rest,
        }
    write_json(path, content)
    check_size(path, MOST_TEXT)


def _arrays(part: Plane | BoostedTrees) -> dict[str, Any]:
    """Return the arrays of a part by name."""
    arrays = part.trees._asdict() if isinstance(part, BoostedTrees) else vars(part)
    outputs = {"outputs": part.n_outputs} if isinstance(part, BoostedTrees) else {}
    return outputs | {name: values.tolist() for name, values in arrays.items()}


def read_risk_model(path: StrPath) -> RiskModel:
    """Read a model of `write_risk_model`.

    Raises
    ------
    DataError
        The file is absent, damaged, foreign, of another format, or holds a model that no table
        can have given: shapes that do not fit, a number that is none, a spread of 0, a level
        or class that occurs twice.
    """
    check_size(path, MOST_TEXT)
    with reading(path):
        content = read_json(path)
        if content.get("format") != FORMAT:
            raise DataError(f"{path}: no risk model of `deepcac fit`")
        if content["version"] != VERSION:
            raise DataError(
                f"{path}: of format version {str(content['version'])[:20]}, this deepcac reads "
                f"{VERSION}; fit it again, or use the deepcac that made it"
            )
        check_version(path, content["software"])
        return _model(content)


def _model(content: dict[str, Any]) -> RiskModel:
    encoder, scaler, classes, label, named = read_table_part(content)
    method = _method(content["method"])
    k = len(content["centres"])
    clustered = bool(method["arm"]) and method["n_clusters"] > 1
    if (k > 0) != clustered or k > method["n_clusters"]:
        raise DataError(f"{k} centres; its method says {method['n_clusters']} clusters")
    width = len(scaler.mean_)
    centres = _array("centres", content["centres"], (k, width)) if k else np.empty((0, width))
    if (np.abs(centres) > OUTLIER * (1 + 1e-9)).any():
        raise DataError("a centre lies beyond all rows")
    if len(content["parts"]) != max(k, 1):
        raise DataError(f"{len(content['parts'])} parts for {k} clusters")
    splines = _splines(content["knots"], method, width)
    parts: list[Plane | BoostedTrees]
    if method["learner"] in BOOSTERS:
        parts = [_trees(part, len(classes), scaler.n_features_in_) for part in content["parts"]]
        columns = width + 1
    else:
        columns = width + splines.n_terms
        parts = [_plane(part, len(classes), columns) for part in content["parts"]]
    spread = None
    if "spread" in content:
        spread = _spread(content["spread"], len(parts) * (1 + columns))
    return RiskModel(
        encoder, scaler, classes, label, named, method, centres, parts, splines, spread
    )


def _splines(content: Any, method: dict[str, Any], width: int) -> Splines:
    """Return the splines of a model's columns, if `fit` can have put their knots there."""
    if content and method["learner"] != bent_line():
        raise DataError(f"splines of a {method['learner']}")
    knots: dict[int, Array] = {}
    for spline in content:
        at = _array("knots", spline["at"], (len(spline["at"]),))
        column = check_count("the column of a spline", spline["column"])
        if not max(knots, default=-1) < column < width:
            raise DataError("a spline is of no column, or out of order")
        if not FEWEST_KNOTS <= len(at) <= MOST_KNOTS or (np.diff(at) < _LEAST_GAP).any():
            raise DataError("knots are too few, too many, or out of order")
        if (np.abs(at) > OUTLIER).any():
            raise DataError("a knot lies beyond all rows")
        knots[column] = at
    return Splines(knots)


def _trees(content: dict[str, Any], n_classes: int, n_columns: int) -> BoostedTrees:
    n_outputs = check_count("outputs", content["outputs"], 1)
    if n_outputs != (1 if n_classes == 2 else n_classes):
        raise DataError(f"trees of {n_outputs} outputs for {n_classes} classes")
    arrays = {
        name: _array(name, content[name], kind=float if name in ("threshold", "leaf") else int)
        for name in TreeArrays._fields
    }
    if len(arrays["root"]) > MOST_TREES * n_outputs:
        raise DataError(f"{len(arrays['root'])} trees; there are {MOST_TREES} at most")
    trees = TreeArrays(**arrays).check(n_columns, n_outputs)
    return BoostedTrees(trees, n_outputs)


def _spread(content: dict[str, Any], width: int) -> RefitSpread:
    """Return how refits vary, if a model of this many coefficients can have been fitted so."""
    directions = _array("directions", content["directions"], (len(content["directions"]), width))
    (rest,) = _array("rest", [content["rest"]], (1,))
    if rest < 0 or len(directions) > DIRECTIONS:
        raise DataError("the spread of its refits is none")
    return RefitSpread(_array("centre", content["centre"], (width,)), directions, float(rest))


def table_part(model: TableModel) -> dict[str, Any]:
    """Return what the file of any model of a table holds of the table, its counts rounded."""
    return {
        "encoder": model.encoder.to_dict(),
        "scaler": {name: value.tolist() for name, value in model.scaler.learnt().items()},
        "classes": list(model.classes),
        "label": model.label,
        "id": model.id,
        "method": _rounded_method(model.method),
    }


def _rounded_method(method: dict[str, Any]) -> dict[str, Any]:
    """Return how a model was made, the rows it counts rounded: others get to see its file."""
    counts: dict[str, Any] = {}
    if "rarest" in method:
        counts["rarest"] = int(rounded(method["rarest"]))
    if "held_out" in method:
        held_out = method["held_out"]
        counts["held_out"] = held_out | {"rows": float(rounded(held_out["rows"]))}
    return method | counts


def read_table_part(
    content: dict[str, Any],
) -> tuple[TableEncoder, TableScaler, tuple[str, ...], str, str | None]:
    """Return encoder, scaler, classes, label and id; an impossible one is a `DataError`."""
    encoder = TableEncoder.from_dict(content["encoder"])
    if encoder.description is None:
        raise DataError("it does not say how its table is read; fit it again")
    kinds = dict.fromkeys(LEARNT, float) | {"flagged_": int, "kept_": bool}
    scaler = TableScaler.of(
        {name: _array(name, content["scaler"][name], kind=kinds[name]) for name in LEARNT}
    )
    if scaler.n_features_in_ != len(encoder.names) or not len(scaler.mean_):
        raise DataError(f"{scaler.n_features_in_} columns are scaled, of {len(encoder.names)}")
    classes = _texts("classes", content["classes"])
    label, named = content["label"], content["id"]
    used = [column.name for column in encoder.used]
    if not isinstance(label, str) or label in used or not isinstance(named, str | None):
        raise DataError("label and id must be other columns than those of the model")
    return encoder, scaler, classes, label, named


def _plane(content: dict[str, Any], n_classes: int, width: int) -> Plane:
    rows = 1 if n_classes == 2 else n_classes
    coef = _array("coef", content["coef"], (rows, width))
    return Plane(coef, _array("intercept", content["intercept"], (rows,)))


def _method(method: dict[str, Any]) -> dict[str, Any]:
    """Return how a model was made, if models are made so."""
    if method["learner"] not in (linear(), bent_line(), *BOOSTERS):
        raise DataError("its learner is none")
    trees = method["learner"] in BOOSTERS
    C, clip = (1.0, None) if trees else (method["C"], method["clip"])
    numbers = [method["alpha"], C, 1.0 if clip is None else clip]
    _array("alpha, C and clip", numbers, (3,))
    if method["arm"] not in ("", "km", "cac") or min(numbers) < 0 or min(numbers[1:]) < SMALLEST:
        raise DataError("its method is none")
    if trees and not isinstance(method["trees"], dict):
        raise DataError("the values of its trees are none")
    check_count("n_clusters", method["n_clusters"], 1)
    if not isinstance(method["chosen"], str):
        raise DataError("how it was chosen is no text")
    if "horizon" in method:
        (horizon,) = _array("horizon", [method["horizon"]], (1,))
        if horizon <= 0 or not isinstance(method.get("competing"), bool):
            raise DataError("its horizon is none")
    return method


def _array(
    what: str, values: Any, shape: tuple[int, ...] | None = None, kind: type = float
) -> npt.NDArray[Any]:
    """Return lists as an array, of a `shape` if it is known; text and bool are no numbers."""
    flat = [values]
    while flat and isinstance(flat[0], list):
        if not all(isinstance(row, list) for row in flat):
            raise DataError(f"{what} mixes lists and values")
        flat = [cell for row in flat for cell in row]
    if any(type(cell) not in _KINDS[kind] or abs(cell) > LARGEST for cell in flat):
        raise DataError(f"{what} holds what is no {kind.__name__}, or beyond {LARGEST:g}")
    array: npt.NDArray[Any] = np.array(
        values, dtype={float: np.float64, int: np.int64, bool: np.bool_}[kind]
    )
    return array if shape is None else check_array(what, array, shape)


def _texts(what: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(text, str) for text in values):
        raise DataError(f"{what} are no texts")
    if len(set(values)) != len(values) or len(values) < 2:
        raise DataError(f"{what} are not two or more, each once")
    return tuple(values)
