"""DVC pointers: which tracked files stand here as their pointers say.

A pointer (``data/features/cic.parquet.dvc``) is committed; the file itself is not. Rebuilding
gives the same bytes, so a rebuilt file can enter the local cache under its old pointer. A file
that differs is never committed silently: that is a finding.
"""

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path
from deepcac.files.declared import read_yaml

CACHE = Path(".dvc/cache")
SPLITS_REMOTE = "splits"  # the remote in the repository itself, which every clone has
_DVC_OF_ALL = """
import sys
from dvc.cli import main
from dvc.ignore import DvcIgnore

DvcIgnore.DVCIGNORE_FILE = "no such file"
sys.exit(main(sys.argv[1:]))
"""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pointer:
    """One output of a committed ``.dvc`` file."""

    path: Path  # of the ``.dvc`` file itself
    target: Path  # the tracked file
    md5: str  # what the tracked file's bytes must hash to
    size: int  # of these bytes

    def state(self) -> str:
        """Return ``"absent"``, ``"same"`` or ``"changed"``."""
        if not self.target.exists():
            return "absent"
        return "same" if _md5(self.target) == self.md5 else "changed"

    @property
    def object_name(self) -> str:
        """Where a cache or a remote keeps the tracked bytes, below its folder."""
        return _object_name(self.md5)

    def unsaved(self, cache: Path) -> bool:
        """Tell whether other bytes are here that the DVC cache in folder `cache` lacks."""
        if not self.target.exists():
            return False
        here = _md5(self.target)
        return here != self.md5 and not (cache / _object_name(here)).exists()

    def in_cache(self, cache: Path) -> Path:
        """Return where the DVC cache in folder `cache` keeps the tracked bytes."""
        return cache / self.object_name

    def cached(self, cache: Path) -> bool:
        """Tell whether the DVC cache in folder `cache` holds the tracked bytes, undamaged."""
        copy = self.in_cache(cache)
        return copy.exists() and _md5(copy) == self.md5

    def keep(self, cache: Path) -> None:
        """Copy the tracked file into the DVC cache in folder `cache`."""
        copy = self.in_cache(cache)
        copy.unlink(missing_ok=True)
        with atomic_path(copy) as partial:
            shutil.copyfile(self.target, partial)
            partial.chmod(0o444)  # as DVC leaves what it has checked

    def bring(self, cache: Path) -> str:
        """Copy the tracked bytes from the DVC cache in folder `cache`, unless they are here.

        Returned is ``"same"``; ``"absent"`` where the cache lacks them; ``"damaged"`` where it has
        others, which are removed there.
        """
        if self.state() == "same":
            return "same"
        copy = self.in_cache(cache)
        if not copy.exists():
            return "absent"
        if not self.cached(cache):
            copy.unlink()
            return "damaged"
        with atomic_path(self.target) as partial:
            shutil.copyfile(copy, partial)
        return "same"


def _object_name(md5: str) -> str:
    return f"files/md5/{md5[:2]}/{md5[2:]}"


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "md5").hexdigest()


class _Output(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    md5: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    size: Annotated[int, Field(ge=0)]
    hash: Literal["md5"]
    path: Annotated[str, Field(min_length=1)]
    remote: Literal["splits"] | None = None  # `SPLITS_REMOTE`, which is in the repository


class _Content(BaseModel):
    """What a ``.dvc`` file may say: nothing that makes DVC look or write elsewhere."""

    model_config = ConfigDict(extra="forbid", strict=True)
    outs: Annotated[list[_Output], Field(min_length=1)]


def read_pointers(path: str | os.PathLike[str]) -> list[Pointer]:
    """Read the outputs of a ``.dvc`` file; one that leads out of its folder is a `DataError`."""
    path = Path(path)
    try:
        content = _Content.model_validate(read_yaml(path))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise DataError(f"{path}: not a DVC pointer ({place}: {fault['msg']})") from error
    except ConfigError as error:
        raise DataError(f"{error} (not a DVC pointer)") from error
    for output in content.outs:
        if not _stays_below(path.parent, output.path):
            raise DataError(
                f"{path}: leads out of its folder, to {output.path!r}; delete it and take the "
                "pointer from a commit that you trust"
            )
    return [
        Pointer(path, path.parent / output.path, output.md5, output.size) for output in content.outs
    ]


def _stays_below(folder: Path, path: str) -> bool:
    """Tell whether a path leads to a place below a folder, by its words and by its links."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or not path.isprintable():
        return False
    return (folder / parts).parent.resolve().is_relative_to(folder.resolve())


def find_pointers(places: Iterable[str | os.PathLike[str]]) -> Iterator[Pointer]:
    """Yield the outputs of ``.dvc`` files, and of every one below a folder, in name order."""
    for place in map(Path, places):
        for path in [place] if place.is_file() else sorted(place.rglob("*.dvc")):
            yield from read_pointers(path)


def write_pointer(path: Path, targets: Iterable[Path], others: Iterable[Pointer] = ()) -> None:
    """Write a ``.dvc`` file with an output for each file; the files lie in its folder or below.

    `others` are outputs that the pointer has besides, whether their files are here or not.
    """
    files = {target: (_md5(target), target.stat().st_size) for target in targets}
    files = {other.target: (other.md5, other.size) for other in others} | files
    outs = [
        {"md5": md5, "size": size, "hash": "md5", "path": file.relative_to(path.parent).as_posix()}
        for file, (md5, size) in sorted(files.items())
    ]
    with atomic_path(path) as partial:
        partial.write_text(yaml.safe_dump({"outs": outs}, sort_keys=False), encoding="utf-8")


def drop_outputs(paths: Iterable[Path], targets: Iterable[Path]) -> list[Path]:
    """Take files out of the ``.dvc`` files that name them, and return those that none names.

    A ``.dvc`` file without an output is removed; the files themselves stay, here and in remotes.
    """
    unnamed = set(targets)
    for path in paths:
        pointers = read_pointers(path)
        rest = [pointer for pointer in pointers if pointer.target not in unnamed]
        if len(rest) == len(pointers):
            continue
        unnamed -= {pointer.target for pointer in pointers}
        if rest:
            write_pointer(path, (), rest)
        else:
            path.unlink()
    return sorted(unnamed)


def align_times(targets: Iterable[Path]) -> None:
    """Give files one time, now.

    A pull stamps files in the order in which they arrive, so that a split file may look older
    than the features it was drawn from. Equal times say what equal content means: nothing
    is out of date. An earlier time than now could be before that of a workflow script, which
    Snakemake takes for a change of code.
    """
    now = time.time_ns()
    for target in targets:
        os.utime(target, ns=(now, now))


def commit_rebuilt(root: str | os.PathLike[str], places: Iterable[str]) -> list[str]:
    """Put rebuilt files that equal their pointers into the local DVC cache; name those that differ.

    A damaged copy in the cache is replaced; a damaged pointer is a `DataError`. Places are pointers
    and folders of pointers below the project's folder; nothing is done if it holds no ``.dvc``.
    """
    root = Path(root)
    if not (root / ".dvc").is_dir():
        return []
    states = [(p, p.state()) for p in find_pointers(root / place for place in places)]
    cache = root / CACHE
    for pointer, state in states:
        if state == "same" and not pointer.cached(cache):
            pointer.keep(cache)
    changed = [str(p.target.relative_to(root)) for p, state in states if state == "changed"]
    for name in changed:
        _log.warning("%s: not the bytes that were shared", name)
    return changed


def dvc(root: Path, command: str, *arguments: str) -> None:
    """Run ``dvc push`` or ``dvc fetch`` in a folder; a failure is a `DataError` of one line.

    They move bytes between the cache and a remote, and never touch a file of the project: what DVC
    has put there itself, it deletes again in a ``dvc pull`` that does not see the pointer.

    It sees the pointers that ``.dvcignore`` hides from a plain ``dvc pull``, since no remote that
    everybody has holds their files. No shell is involved, so that the project may lie in a folder
    of any name.
    """
    done = subprocess.run(
        [sys.executable, "-c", _DVC_OF_ALL, command, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stderr.rpartition("ERROR: ")[2].split())[:300]
        raise DataError(f"{root}: dvc {command} failed ({reason})")


def check_remote(root: Path) -> None:
    """Refuse the default DVC remote of a folder that does not exist, with a `DataError`.

    Where every file is here already, ``dvc pull`` does not look at it.
    """
    from dvc.repo import Repo

    try:
        with Repo(os.fspath(root)) as repo:
            remote = repo.cloud.get_remote(command="pull")
            if remote.fs.exists(remote.path):
                return
            reason = f"remote {remote.name!r} has nothing at {remote.path}"
    except Exception as error:  # each kind of store has errors of its own
        reason = " ".join(str(error).split())[:300]
    raise DataError(f"{root}: {reason}; name the one that was shared to: make pull REMOTE=...")


def check_share(root: Path) -> None:
    """Refuse to share to the remote in the repository, with a `DataError`: git would publish it."""
    from dvc.repo import Repo

    with Repo(os.fspath(root)) as repo:
        if repo.config["core"].get("remote") == SPLITS_REMOTE:
            raise DataError(
                f"{root}: the remote {SPLITS_REMOTE!r} in the repository is for splits only; name "
                "one of your own: make share REMOTE=..."
            )
