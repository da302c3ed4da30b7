"""Finished records: what each is read with, and what all of them say."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

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
        A record is damaged.
    """
    files = sorted({Path(path) for path in paths})
    return [kind(Path(os.path.relpath(file, root)).as_posix(), read_json(file)) for file in files]
