"""Base class and loading of finished records of any kind."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.catalogue.protocol import protocol_folder


def check_place(path: str | os.PathLike[str], record: Mapping[str, Any], place: str) -> None:
    """Raise `DataError` for a record at a path that does not fit its content.

    Parameters
    ----------
    path : path-like
    record : mapping
    place : str
        Pattern of the end of its path, with names of entries: ``{dataset}/{method}.json``;
        ``{folder}`` is that of its protocol.

    Raises
    ------
    DataError
        The record's entries differ from its path, or are missing.
    """
    try:
        expected = place.format(**record, folder=protocol_folder(record.get("protocol", "sound")))
    except KeyError as error:
        raise DataError(f"{path}: says no {error}; delete it and run it again") from error
    if expected and not Path(path).absolute().as_posix().endswith(f"/{expected}"):
        raise DataError(f"{path}: is the record of {expected!r}; delete it and run it again")


@dataclass(frozen=True)
class Stored:
    """One finished JSON.

    Attributes
    ----------
    path : str
        Its place, relative to the folder that holds ``results/``.
    record : dict
        Its content.
    """

    path: str
    record: dict[str, Any]
    place: ClassVar[str] = ""  # pattern of the path's end (`check_place`); empty for any path
    entry: ClassVar[str] = "digest"  # a key that records of other kinds lack

    @property
    def dataset(self) -> str:
        """Id of the data set."""
        return str(self.record["dataset"])

    @property
    def protocol(self) -> str:
        """``sound`` or ``as_published``."""
        return str(self.record["protocol"])

    @property
    def synthetic(self) -> bool:
        """Whether the data were generated."""
        return bool(self.record["synthetic"])


S = TypeVar("S", bound=Stored)


def load_stored(
    kind: type[S], paths: Iterable[str | os.PathLike[str]], root: str | os.PathLike[str]
) -> list[S]:
    """Read records, each once, in order of their paths, which are displayed relative to `root`.

    Records of other kinds are skipped.

    Raises
    ------
    DataError
        A record is damaged, or at a path that does not fit its content.
    """
    records = []
    for file in sorted({Path(path) for path in paths}):
        record = read_json(file)
        if kind.entry in record:
            check_place(file, record, kind.place)
            records.append(kind(Path(os.path.relpath(file, root)).as_posix(), record))
    return records
