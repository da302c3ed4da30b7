"""Finished records: what each is read with, and what all of them say."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.catalogue.protocol import protocol_folder


def check_place(path: str | os.PathLike[str], record: Mapping[str, Any], place: str) -> None:
    """Refuse a record that lies where another belongs.

    Parameters
    ----------
    path : path-like
    record : mapping
    place : str
        How its path ends, with names of its entries: ``{dataset}/{method}.json``; ``{folder}`` is
        that of its protocol.

    Raises
    ------
    DataError
        The record says something else than its path, or nothing.
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
    place: ClassVar[str] = ""  # how the path ends (`check_place`); empty where it says nothing
    entry: ClassVar[str] = "digest"  # what tells its kind of record from others

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
    """Read records, each once, in order of their paths, which are shown relative to `root`.

    Other kinds of records are left out.

    Raises
    ------
    DataError
        A record is damaged, or lies where another belongs.
    """
    records = []
    for file in sorted({Path(path) for path in paths}):
        record = read_json(file)
        if kind.entry in record:
            check_place(file, record, kind.place)
            records.append(kind(Path(os.path.relpath(file, root)).as_posix(), record))
    return records
