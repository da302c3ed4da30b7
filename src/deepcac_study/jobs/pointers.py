"""DVC pointers, and whether the tracked files here match them.

A pointer (``data/features/cic.parquet.dvc``) is committed; the file itself is not. Rebuilding
gives the same bytes, so a rebuilt file can enter the local cache under its old pointer. A file
that differs is reported, and never committed.
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
        """Path of the tracked bytes below the folder of a cache or remote."""
        return _object_name(self.md5)

    def unsaved(self, cache: Path) -> bool:
        """Return whether the file here differs from its pointer and is not in the DVC `cache`."""
        if not self.target.exists():
            return False
        here = _md5(self.target)
        return here != self.md5 and not (cache / _object_name(here)).exists()

    def in_cache(self, cache: Path) -> Path:
        """Return the path of the tracked bytes in the DVC cache in folder `cache`."""
        return cache / self.object_name

    def cached(self, cache: Path) -> bool:
        """Return whether the DVC cache in folder `cache` holds the tracked bytes, undamaged."""
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

        Returns ``"same"``; ``"absent"`` if the cache lacks them; ``"damaged"`` if it has other
        bytes, which are deleted from the cache.
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
    """Content of a ``.dvc`` file, without options that make DVC read or write elsewhere."""

    model_config = ConfigDict(extra="forbid", strict=True)
    outs: Annotated[list[_Output], Field(min_length=1)]


def read_pointers(path: str | os.PathLike[str]) -> list[Pointer]:
    """Read the outputs of a ``.dvc`` file; an output outside its folder is a `DataError`."""
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
    """Return whether a path stays below a folder, both literally and with links resolved."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or not path.isprintable():
        return False
    return (folder / parts).parent.resolve().is_relative_to(folder.resolve())


def find_pointers(places: Iterable[str | os.PathLike[str]]) -> Iterator[Pointer]:
    """Yield the outputs of ``.dvc`` files, given directly or by a folder, in name order."""
    for place in map(Path, places):
        for path in [place] if place.is_file() else sorted(place.rglob("*.dvc")):
            yield from read_pointers(path)


def write_pointer(path: Path, targets: Iterable[Path], others: Iterable[Pointer] = ()) -> None:
    """Write a ``.dvc`` file with one output per file in its folder or below.

    `others` are further outputs, whose files need not be here.
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
    """Remove files from the ``.dvc`` files that name them; return those that none names.

    A ``.dvc`` file left without outputs is deleted; the files themselves stay, here and in remotes.
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
    """Set the modification times of files to the same moment, now.

    After a pull, times reflect the order of arrival, so that a split file may look older than the
    features it was drawn from. With equal times nothing is out of date. A time before now could be
    earlier than that of a workflow script, which Snakemake takes for a change of code.
    """
    now = time.time_ns()
    for target in targets:
        os.utime(target, ns=(now, now))


def commit_rebuilt(root: str | os.PathLike[str], places: Iterable[str]) -> list[str]:
    """Copy rebuilt files that match their pointers to the DVC cache; return those that differ.

    A damaged copy in the cache is replaced; a damaged pointer is a `DataError`. `places` are
    pointers and folders of pointers below the project's folder; nothing is done if it has no
    ``.dvc``.
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

    These move bytes between the cache and a remote, and never touch a file of the project; ``dvc
    pull`` would delete files that it put there once their pointers are hidden.

    Here DVC sees the pointers that ``.dvcignore`` hides from a plain ``dvc pull``, because public
    remotes do not have their files. No shell is involved, so that the project's folder may have any
    name.
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
    """Raise `DataError` if the default DVC remote is a folder that does not exist.

    ``dvc pull`` does not check it if all files are here already.
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
    """Raise `DataError` if the default remote is inside the repository: git would publish it."""
    from dvc.repo import Repo

    with Repo(os.fspath(root)) as repo:
        if repo.config["core"].get("remote") == SPLITS_REMOTE:
            raise DataError(
                f"{root}: the remote {SPLITS_REMOTE!r} in the repository is for splits only; name "
                "one of your own: make share REMOTE=..."
            )
