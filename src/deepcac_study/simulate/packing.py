"""Archives of synthetic raw files, the same bytes on every machine."""

import os
import zipfile
from collections.abc import Iterable

from deepcac.files.atomic import atomic_path


def write_archive(path: str | os.PathLike[str], files: Iterable[tuple[str, str | bytes]]) -> None:
    """Write a zip without compression, whose bytes would depend on the library's version.

    Parameters
    ----------
    files : iterable of (str, str or bytes)
        Name inside the archive, and content; text becomes UTF-8.
    """
    with atomic_path(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content)
