"""The registry: every raw source, its files and the data sets made from it.

One YAML file a source, ``config/registry/{source}.yaml``, checked against a schema.
"""

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from deepcac.errors import ConfigError

DEMO = "demo_"


@dataclass(frozen=True)
class RawFile:
    """One raw file of a source.

    Attributes
    ----------
    source, name : str
        It is kept as ``data/raw/{source}/{name}``; archives are named ``*.archive``.
    path : str
        Its place inside a mirror.
    url : str or None
        Official address.
    sha256 : str or None
        Digest of a plain file.
    content_sha256 : str or None
        Digest over the members of an archive (`deepcac.raw.archive.content_digest`).
    members : int or None
        Number of regular files in the archive.
    top : str or None
        First folder of the member names in the digest, where archives differ in it.
    """

    source: str
    name: str
    path: str
    url: str | None = None
    sha256: str | None = None
    content_sha256: str | None = None
    members: int | None = None
    top: str | None = None

    @property
    def is_archive(self) -> bool:
        """Whether the digest is one over members."""
        return self.content_sha256 is not None

    @property
    def digest(self) -> str:
        """The digest that the file must have."""
        return str(self.content_sha256 or self.sha256)


@dataclass(frozen=True)
class DataSet:
    """One data set: what is predicted from which source.

    Attributes
    ----------
    id, source : str
        Names used in paths and in configuration.
    title, label : str
        What it is, and what is predicted.
    positive : str or None
        What class 1 means; None for several classes.
    task : {"binary", "multiclass"}
        Kind of label.
    sequence : bool
        Columns are ``variable@hour``.
    switches : tuple of str
        Labels of the switches (`deepcac.catalogue.protocol`) that change its features.
    pairwise : bool
        Rows come with pair features and given clusterings (002_*), and are not split at random.
    published_share : float
        Share of the test rows, and of the others for validation, as published (switch D3).
    note, ranges : str or None
        A remark; the table of units and plausible ranges.
    """

    id: str
    source: str
    title: str
    label: str
    positive: str | None
    task: str
    sequence: bool = False
    pairwise: bool = False
    switches: tuple[str, ...] = ()
    published_share: float = 0.25
    note: str | None = None
    ranges: str | None = None


@dataclass(frozen=True)
class Source:
    """A raw source: its terms, files and data sets."""

    id: str
    title: str
    licence: str
    citation: str
    homepage: str
    restricted: bool
    files: Mapping[str, RawFile] = field(default_factory=dict)
    datasets: Mapping[str, DataSet] = field(default_factory=dict)


@dataclass(frozen=True)
class Registry:
    """All sources by id; every look-up of an unknown id is a `ConfigError` with near names."""

    sources: Mapping[str, Source]

    @property
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
        return _look_up(self.datasets, id_.removeprefix(DEMO), "data set")

    def file(self, source: str, name: str) -> RawFile:
        """Return one raw file of an open source; restricted ones are read where they are."""
        entry = self.source(source)
        if entry.restricted:
            raise ConfigError(f"{source} is restricted: it is read from its folder, never fetched")
        return _look_up(entry.files, name, f"raw file of {source!r}")


def load_registry(folder: str | os.PathLike[str]) -> Registry:
    """Read and check every ``*.yaml`` of a registry folder.

    Raises
    ------
    ConfigError
        The folder has none, a file does not fit the schema, or an id stands in two sources.
    """
    paths = sorted(Path(folder).glob("*.yaml"))
    if not paths:
        raise ConfigError(f"{folder}: no registry here; one YAML file a source is expected")
    sources = {path.stem: _read_source(path) for path in paths}
    owner: dict[str, str] = {}
    for source in sources.values():
        for id_ in source.datasets:
            if id_ in owner:
                raise ConfigError(f"data set {id_!r} stands in {owner[id_]} and in {source.id}")
            owner[id_] = source.id
    return Registry(sources)


def _read_source(path: Path) -> Source:
    try:
        entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{path}: not readable as YAML ({' '.join(str(error).split())})"
        ) from error
    for fault in sorted(_validator().iter_errors(entry), key=lambda fault: fault.json_path):
        raise ConfigError(f"{path}: at {fault.json_path}: {fault.message}")
    id_ = path.stem
    files = {name: RawFile(id_, name, **item) for name, item in entry.pop("files", {}).items()}
    sets = {
        name: DataSet(name, id_, **{**item, "switches": tuple(item.get("switches", ()))})
        for name, item in entry.pop("datasets").items()
    }
    return Source(id_, **entry, files=files, datasets=sets)


@cache
def _validator() -> Draft202012Validator:
    text = (resources.files("deepcac.catalogue") / "registry.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


def _look_up(known: Mapping[str, Any], id_: str, what: str) -> Any:
    if id_ in known:
        return known[id_]
    near = difflib.get_close_matches(id_, known, n=3)
    raise ConfigError(
        f"unknown {what} {id_!r}; {_listed('near names', near) or _listed('known', known)}"
    )


def _listed(title: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"{title}: {listed}" if listed else ""
