"""Where a command may write: a regular file, in a folder that can be written, and no input."""

import os
from pathlib import Path

from deepcac.errors import ConfigError
from deepcac.files.atomic import check_writable

StrPath = str | os.PathLike[str]


def check_output(out: StrPath, *inputs: StrPath, option: str = "--out") -> None:
    """Refuse to write where a user would lose something, before anything is read.

    `inputs` are files that are read; `option` is what names `out` on the command line.

    Raises
    ------
    ConfigError
        `out` is one of the inputs, a folder or a device, or its folder cannot be written.
    """
    path = Path(out)
    if path.exists():
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "no regular file"
            raise ConfigError(f"{option} {out}: is {kind}; name a file")
        if any(Path(file).exists() and path.samefile(file) for file in inputs):
            raise ConfigError(f"{option} {out}: is what is read; name another file")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ConfigError(f"{option} {out}: there is no folder {folder}; make it first")
    try:
        check_writable(folder)
    except ConfigError as error:
        raise ConfigError(f"{option} {out}: {error}") from None
