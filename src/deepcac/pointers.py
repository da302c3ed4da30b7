"""DVC pointers: which tracked files stand here as their pointers say.

A pointer (``data/features/cic.parquet.dvc``) is committed; the file itself is not. Rebuilding
gives the same bytes, so a rebuilt file can enter the local cache under its old pointer. A file
that differs is never committed silently: that is a finding.
"""

import hashlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deepcac.errors import DataError

_DVC = (sys.executable, "-m", "dvc")
_log = logging.getLogger(__name__)


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
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not a DVC pointer with one output ({reason})") from error


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


def commit_rebuilt(root: str | os.PathLike[str], folders: Iterable[str]) -> list[str]:
    """Put rebuilt files that equal their pointers into the local DVC cache; name those that differ.

    No shell is involved, so that the project may lie in a folder of any name.

    Parameters
    ----------
    root : path-like
        The project's folder; nothing is done if it holds no ``.dvc``.
    folders : iterable of str
        Folders of pointers below it.

    Returns
    -------
    list of str
        Tracked files that are not the bytes that were shared, relative to `root`; each is logged.

    Raises
    ------
    DataError
        A pointer is damaged, or DVC failed.
    """
    root = Path(root)
    if not (root / ".dvc").is_dir():
        return []
    pointers = find_pointers(root / folder for folder in folders)
    states = [(pointer, pointer.state()) for pointer in pointers]
    cache = root / ".dvc" / "cache"
    fresh = [pointer for pointer, state in states if state == "same" and not pointer.cached(cache)]
    if fresh:
        names = [str(pointer.path.relative_to(root)) for pointer in fresh]
        command = [*_DVC, "commit", "--force", "--quiet", "--", *names]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = " ".join(done.stderr.split())[:300]
            raise DataError(f"{root}: dvc commit failed ({reason}); run `dvc commit` by hand")
    changed = [str(p.target.relative_to(root)) for p, state in states if state == "changed"]
    for name in changed:
        _log.warning("%s: not the bytes that were shared; see `dvc status`", name)
    return changed
