"""`deepcac add`: a table becomes a data set of the workflow, with a registry entry of its own."""

import os
import re
from dataclasses import replace
from pathlib import Path

import yaml

from deepcac.errors import ConfigError
from deepcac.feature_matrix import write_features
from deepcac.files.atomic import atomic_path
from deepcac.table.columns.roles import Roles
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac_study.catalogue.registry import PRIVATE, check_name, load_registry

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NO_LIMIT = 2**62


def add_table(
    path: str | os.PathLike[str], roles: Roles, name: str, project: str | os.PathLike[str]
) -> tuple[Path, Path, LabelledTable]:
    """Write the feature file and the private registry entry of a table.

    Both are in folders that git ignores; the entry is private by its folder, so that nothing made
    from it is ever shared. Those of a data set that was added by this name before are replaced.

    Parameters
    ----------
    path : path-like
        Table to read, all rows of it.
    roles : Roles
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
    table = read_labelled(path, roles, rows=_NO_LIMIT)
    group = None if table.group is None else table.group.astype(str)
    write_features(features, replace(table.features, group=group))
    with atomic_path(entry) as partial:
        text = yaml.safe_dump({**_HEAD, "datasets": {name: _entry(table, roles)}}, sort_keys=False)
        partial.write_text(text, encoding="utf-8")
    return features, entry, table


def added_before(name: str, project: str | os.PathLike[str]) -> str:
    """Return the title of the private data set that has a name; empty if none has."""
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


def _entry(table: LabelledTable, roles: Roles) -> dict[str, object]:
    two = len(table.classes) == 2
    return {
        "title": f"{table.name} ({len(table.features.label):,} rows)",
        "label": roles.label,
        "positive": table.classes[1] if two else None,
        "task": "binary" if two else "multiclass",
        "grouped": table.group is not None,
        "note": f"Classes in order: {', '.join(table.classes)}.",
    }
