"""What may be said about a feature file without its rows: sizes, classes, gaps and ranges.

For restricted data these are counts alone, and small ones are left out (`withheld`).
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.files.storage import write_json
from deepcac_study.features.columns.ranges import Range, read_ranges, variable_of
from deepcac_study.features.pairwise import read_pairwise
from deepcac_study.report.data.restricted_counts import withheld, withheld_parts


def profile(
    features: FeatureMatrix, ranges: Mapping[str, Range], *, restricted: bool = False
) -> dict[str, Any]:
    """Describe a feature matrix by numbers over all rows; None for what is withheld or unknown.

    ``rows``; ``steps`` of a sequence; ``classes``: rows of each; ``columns``: for each ``name``,
    ``variable``, ``missing`` values, ``lowest`` and ``highest`` one and, where its variable has a
    range, values ``outside``. Of `restricted` data small counts are withheld, and every lowest and
    highest value: each is that of one patient.
    """
    n = len(features.row_id)
    columns = [
        _column(name, values, ranges.get(variable_of(name)))
        for name, values in zip(features.names, features.X.T, strict=True)
    ]
    classes: list[int | None] = np.bincount(features.label).tolist()
    if restricted:
        classes = withheld_parts(classes)
        columns = [_without_small(column, n) for column in columns]
    return {
        "rows": withheld(n) if restricted else n,
        "steps": features.n_steps,
        "restricted": restricted,
        "classes": classes,
        "columns": columns,
    }


def _column(name: str, values: npt.NDArray[np.float64], entry: Range | None) -> dict[str, Any]:
    measured = values[~np.isnan(values)]
    column: dict[str, Any] = {
        "name": name,
        "variable": variable_of(name),
        "missing": len(values) - len(measured),
        "lowest": float(measured.min()) if len(measured) else None,
        "highest": float(measured.max()) if len(measured) else None,
    }
    if entry and entry.bounded and "=" not in name:  # not the 0/1 column of a category
        column["outside"] = outside(measured, entry)
    return column


def outside(values: npt.NDArray[np.float64], entry: Range) -> int:
    """Count the values below or above a range; NaN is neither."""
    low = -np.inf if entry.low is None else entry.low
    high = np.inf if entry.high is None else entry.high
    return int(((values < low) | (values > high)).sum())


def _without_small(column: dict[str, Any], rows: int) -> dict[str, Any]:
    shown = column | {"lowest": None, "highest": None, "missing": withheld(column["missing"], rows)}
    if "outside" in column:
        shown["outside"] = withheld(column["outside"])
    return shown


def profile_pairwise(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a data set with features of pairs; its sparse features have no gaps."""
    data = read_pairwise(path)
    return {
        "rows": len(data.row_id),
        "steps": 1,
        "restricted": False,
        "classes": np.bincount(data.label).tolist(),
        "columns": [],
        "sparse_columns": len(data.names),
        "pairs": len(data.first),
    }


def build(
    features_path: str | os.PathLike[str],
    profile_path: str | os.PathLike[str],
    *,
    dataset: str,
    protocol: str,
    ranges: str | None = None,
    restricted: bool = False,
    pairwise: bool = False,
) -> None:
    """Write the profile of one feature file as JSON.

    It tells data set and protocol; `ranges`, `restricted` and `pairwise` are those of the registry.
    """
    if pairwise:
        content = profile_pairwise(features_path)
    else:
        plausible = read_ranges(ranges) if ranges else {}
        content = profile(read_features(features_path), plausible, restricted=restricted)
    write_json(profile_path, {"dataset": dataset, "protocol": protocol, **content})


def build_all(
    features_paths: Iterable[str | os.PathLike[str]],
    profile_paths: Iterable[str | os.PathLike[str]],
    options: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write the profiles ``.../profiles/{protocol}/{dataset}.json``; the sound ones without folder.

    `options` are those of `build`, by data set.
    """
    for features, profile_path in zip(features_paths, map(Path, profile_paths), strict=True):
        folder, dataset = profile_path.parent.name, profile_path.stem
        protocol = "sound" if folder == "profiles" else folder
        settings = options[dataset]
        build(features, profile_path, dataset=dataset, protocol=protocol, **settings)
