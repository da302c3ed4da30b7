"""Files that are whole or absent."""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deepcac.errors import ConfigError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary sibling of `path` that takes its name only if the block succeeds.

    A file that is replaced keeps its rights, and a link stays one: what it leads to is replaced.
    The bytes are on the disk before the name is, so that a power cut leaves no empty file. What a
    killed writer of the same file left behind is removed first.

    Parameters
    ----------
    path : path-like
        Final name. Missing parent folders are made.

    Yields
    ------
    Path
        Name to write to, in the same folder (so that the rename is atomic).
    """
    final = Path(path).resolve()
    final.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(final)
    partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
    rights = stat.S_IMODE(final.stat().st_mode) if final.is_file() else None
    try:
        if rights is not None:  # nobody else reads along while it is written
            partial.touch(0o600)
        yield partial
        if rights is not None:
            partial.chmod(rights)
        _flush(partial)
        os.replace(partial, final)
        _flush(final.parent)
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            error.filename = str(final)  # a full disk does not say where
        raise
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(final: Path) -> None:
    """Remove partial files of `final` whose writer no longer runs on this machine."""
    name = re.compile(rf"\.{re.escape(final.name)}\.(\d+)\.partial")
    for sibling in final.parent.iterdir():
        match = name.fullmatch(sibling.name)
        if match and not _runs(int(match[1])):
            sibling.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder where nothing can be written, with a `ConfigError`."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise ConfigError(
            f"{folder}: cannot be written ({error.strerror}); choose a folder of your own"
        ) from None
