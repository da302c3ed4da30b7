"""Finished records: what each is read with, and what all of them say."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from deepcac.errors import DataError
from deepcac.experiments.record import content_digest
from deepcac.storage import read_json


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

    Raises
    ------
    DataError
        A record has a digest that does not hold.
    """
    files = sorted({Path(path) for path in paths})
    return [kind(Path(os.path.relpath(file, root)).as_posix(), _sealed(file)) for file in files]


def _sealed(file: Path) -> dict[str, Any]:
    record: dict[str, Any] = read_json(file)
    if "digest" in record and record["digest"] != content_digest(record):
        raise DataError(f"{file}: the digest does not hold; the file was edited, run it again")
    return record
