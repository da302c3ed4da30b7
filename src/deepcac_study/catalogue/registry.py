"""The registry of raw sources, their files and the data sets made from them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from deepcac.errors import ConfigError
from deepcac.files.declared import checked, read_yaml
from deepcac_study.catalogue.entries import DataSet, RawFile, Source
from deepcac_study.catalogue.near_names import near_names
from deepcac_study.catalogue.protocol import named_protocols
from deepcac_study.catalogue.record_kinds import JUDGE_FOLDERS, JUDGED, OTHERS, SECOND_RUNS

DEMO = "demo_"
PRIVATE = "private"  # the part of a registry that git does not track: the user's tables
# Folders of the workflow, whose names no data set may have.
_FOLDERS = (
    *("config", "data", "logs", "results", "features", "splits", "tidy", "raw", "cohorts"),
    *("clusterings", "pretrained", "report", "switches"),
    *(PRIVATE, *OTHERS, JUDGED, *JUDGE_FOLDERS, *SECOND_RUNS),
)
_GRID = "synthetic_cac_"  # how the files of the synthetic grid begin
_PARTS = ("_nodes", "_columns", "_pairs")  # of the files of a data set with features of pairs
_CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Registry:
    """All sources by id; looking up an unknown id is a `ConfigError` with similar names."""

    sources: Mapping[str, Source]

    @cached_property
    def datasets(self) -> dict[str, DataSet]:
        """Every data set by id."""
        return {
            id_: item for source in self.sources.values() for id_, item in source.datasets.items()
        }

    def source(self, id_: str) -> Source:
        """Return a source; ``demo_{id}`` (generated raw files) is the source it imitates."""
        return _look_up(self.sources, id_.removeprefix(DEMO), "source")

    def dataset(self, id_: str) -> DataSet:
        """Return a data set; ``demo_{id}`` is the data set it imitates."""
        demo = DEMO if id_.startswith(DEMO) else ""
        if id_.removeprefix(DEMO) not in self.datasets:
            names = [demo + name for name in self.datasets]
            raise ConfigError(f"unknown data set {id_!r}; {near_names(id_, names)}")
        entry = self.datasets[id_.removeprefix(DEMO)]
        if demo and not self.sources[entry.source].simulate:
            raise ConfigError(f"{id_}: no data are generated for {entry.id}; ask for {entry.id}")
        return entry

    def file(self, source: str, name: str) -> RawFile:
        """Return one raw file of an open source; one of a restricted source is a `ConfigError`."""
        entry = self.source(source)
        if entry.restricted:
            raise ConfigError(f"{source} is restricted: it is read from its folder, never fetched")
        return _look_up(entry.files, name, f"raw file of {source!r}")


def registry_folder(project: str | os.PathLike[str]) -> Path:
    """Return the registry folder of `project`, the folder that holds ``workflow/``.

    A job on another machine gets the workflow's files without its configuration; there it is the
    registry of the checkout from which the package was installed, as in the container.
    """
    folders = [root / "config" / "registry" for root in (Path(project), _CHECKOUT)]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def load_registry(folder: str | os.PathLike[str], *, private: bool = True) -> Registry:
    """Read and validate every ``*.yaml`` of a registry folder, and of ``private`` in it.

    Entries in ``private`` are private whatever they state. No entry at all, a file that does not
    fit the schema, an unusable id, and a private entry with the name of a public one are a
    `ConfigError`.
    """
    paths = sorted(Path(folder).glob("*.yaml"))
    if not paths:
        raise ConfigError(f"{folder}: no registry here; one YAML file a source is expected")
    sources = {path.stem: _read_source(path) for path in paths}
    for path in sorted((Path(folder) / PRIVATE).glob("*.yaml")) if private else ():
        if path.stem in sources:
            raise ConfigError(
                f"{path}: there is a public source {path.stem!r}, which a private entry never "
                "replaces; rename the file, or delete it"
            )
        sources[path.stem] = _read_source(path, private=True)
    registry = Registry(sources)
    for source in sources.values():
        for id_ in source.datasets:
            check_name(registry, id_, source.id)
    return registry


def check_name(registry: Registry, id_: str, owner: str) -> None:
    """Raise `ConfigError` for the id of a data set or source whose files would overwrite others.

    It may not be that of a folder of the workflow, of generated data, or of another source than
    its `owner`.
    """
    reserved = (*_FOLDERS, *named_protocols())
    if {id_, owner} & set(reserved) or id_.startswith((DEMO, _GRID)) or owner.startswith(DEMO):
        raise ConfigError(f"{id_!r} names files of the workflow itself; choose another name")
    for source in registry.sources.values():
        pairs = [name for name, entry in source.datasets.items() if entry.pairwise]
        parts = {name + part for name in pairs for part in _PARTS}
        if id_ in parts or (source.id != owner and id_ in source.datasets):
            raise ConfigError(f"data set {id_!r} belongs to {owner} and to {source.id}")


def _read_source(path: Path, *, private: bool = False) -> Source:
    entry = read_yaml(path)
    if not isinstance(entry, dict):
        raise ConfigError(f"{path}: at $: a source with its data sets is expected")
    return checked(Source, {**entry, "id": path.stem, "private": private}, str(path))


def _look_up(entries: Mapping[str, Any], id_: str, what: str) -> Any:
    if id_ in entries:
        return entries[id_]
    raise ConfigError(f"unknown {what} {id_!r}; {near_names(id_, entries)}")
