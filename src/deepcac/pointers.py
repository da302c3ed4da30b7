"""DVC pointers: which tracked files stand here as their pointers say.

A pointer (``data/features/cic.parquet.dvc``) is committed; the file itself is not. Rebuilding
gives the same bytes, so a rebuilt file can enter the local cache under its old pointer. A file
that differs is never committed silently: that is a finding.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deepcac.errors import DataError


@dataclass(frozen=True)
class Pointer:
    """One committed ``.dvc`` file.

    Attributes
    ----------
    path : Path
        Of the pointer itself.
    target : Path
        The tracked file.
    md5 : str
        What the tracked file's bytes must hash to.
    """

    path: Path
    target: Path
    md5: str

    def state(self) -> str:
        """Return ``"absent"``, ``"same"`` or ``"changed"``."""
        if not self.target.exists():
            return "absent"
        with self.target.open("rb") as stream:
            found = hashlib.file_digest(stream, "md5").hexdigest()
        return "same" if found == self.md5 else "changed"

    def cached(self, cache: Path) -> bool:
        """Tell whether the DVC cache in folder `cache` holds the tracked bytes."""
        return (cache / "files" / "md5" / self.md5[:2] / self.md5[2:]).exists()


def read_pointer(path: str | os.PathLike[str]) -> Pointer:
    """Read a ``.dvc`` file with one output; any other content is a `DataError`."""
    try:
        content: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        (out,) = content["outs"]
        return Pointer(Path(path), Path(path).parent / out["path"], str(out["md5"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not a DVC pointer with one output ({error})") from error


def find_pointers(folders: Iterable[str | os.PathLike[str]]) -> Iterator[Pointer]:
    """Yield every pointer below some folders, in name order."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.dvc")):
            yield read_pointer(path)


def align_times(pointers: Iterable[Pointer]) -> int:
    """Give every unchanged tracked file the time of the oldest of them.

    ``dvc pull`` stamps files in the order in which they arrive, so that a split file may look
    older than the features it was drawn from. Equal times say what equal content means: nothing
    is out of date.

    Returns
    -------
    int
        How many files were stamped.
    """
    same = [pointer.target for pointer in pointers if pointer.state() == "same"]
    if same:
        oldest = min(target.stat().st_mtime_ns for target in same)
        for target in same:
            os.utime(target, ns=(oldest, oldest))
    return len(same)
