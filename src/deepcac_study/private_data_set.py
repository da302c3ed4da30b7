"""`deepcac add`: a table becomes a data set of the workflow, with its registry entry."""

import os
import re
from pathlib import Path

import yaml

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.atomic import atomic_path
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac_study.catalogue.registry import PRIVATE, check_name, load_registry

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NO_LIMIT = 2**62


def add_table(
    path: DescribedTable, name: str, project: str | os.PathLike[str]
) -> tuple[Path, Path, LabelledTable]:
    """Write the feature file and the private registry entry of a table.

    Both are in folders that git ignores; the entry is private because of its folder, so that
    nothing made from it is ever shared. Files of a data set added under this name before are
    replaced.

    Parameters
    ----------
    path : DescribedTable
        The table; all of its rows are read.
    name : str
        Id of the data set: lower-case letters, digits and underscores.
    project : path-like
        Folder of the workflow.

    Returns
    -------
    features, entry : Path
        The two files.
    table : LabelledTable

    Raises
    ------
    ConfigError
        The name cannot be used or is taken, or the folder is not the workflow's.
    DataError
        The table is at fault.
    """
    registry = Path(project) / "config" / "registry"
    if not registry.is_dir():
        raise ConfigError(f"{project}: no config/registry here; run in the folder of the workflow")
    if not _NAME.fullmatch(name):
        raise ConfigError(f"name {name!r}; use lower-case letters, digits and underscores")
    entry = registry / PRIVATE / f"{name}.yaml"
    features = Path(project) / "data" / "features" / f"{name}.parquet"
    catalogue = load_registry(registry)
    taken = name in catalogue.sources or name in catalogue.datasets or features.exists()
    if taken and not entry.exists():
        raise ConfigError(f"there is a data set {name!r} already; choose another --name")
    check_name(catalogue, name, owner=name)
    table = read_labelled(path, rows=_NO_LIMIT)
    matrix = _known(table)
    write_features(features, matrix)
    with atomic_path(entry) as partial:
        made = _entry(table, len(matrix.label))
        text = yaml.safe_dump({**_HEAD, "datasets": {name: made}}, sort_keys=False)
        partial.write_text(text, encoding="utf-8")
    return features, entry, table


def added_before(name: str, project: str | os.PathLike[str]) -> str:
    """Return the title of the private data set of this name; empty if there is none."""
    entry = Path(project) / "config" / "registry" / PRIVATE / f"{name}.yaml"
    if not entry.exists():
        return ""
    dataset = load_registry(entry.parents[1]).datasets.get(name)
    return dataset.title if dataset else entry.name


_HEAD = {
    "title": "A table of one's own",
    "licence": "private, not to be shared",
    "citation": "none",
    "homepage": "http://localhost/",
    "restricted": True,
}


def _known(table: LabelledTable) -> FeatureMatrix:
    """Return features, labels and patients of the rows whose outcome at a horizon is known."""
    rows = slice(None) if table.follow is None else table.follow.outcome_known
    matrix = table.features
    return FeatureMatrix(
        matrix.row_id[rows], matrix.label[rows], matrix.X[rows], matrix.names,
        None if table.group is None else table.group[rows].astype(str),
    )  # fmt: skip


def _entry(table: LabelledTable, rows: int) -> dict[str, object]:
    """Return the registry entry of a table."""
    return {
        "title": f"{table.name} ({rows:,} rows)",
        "note": f"Classes in order: {', '.join(table.classes)}.",
        "description": table.description.to_dict(),
    }
