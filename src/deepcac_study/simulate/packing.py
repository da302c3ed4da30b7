"""Helpers of the generators: tables of typical values, and archives with reproducible bytes."""

import csv
import os
import zipfile
from collections.abc import Iterable
from functools import cache
from importlib import resources

from deepcac.files.atomic import atomic_path


@cache
def typical(name: str) -> list[dict[str, str]]:
    """Return the rows of ``{name}.csv`` in this package."""
    text = (resources.files("deepcac_study.simulate") / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def write_archive(path: str | os.PathLike[str], files: Iterable[tuple[str, str | bytes]]) -> None:
    """Write a zip without compression, so that its bytes do not depend on the library's version.

    A file is a pair of its name inside the archive and its content; text is encoded as UTF-8.
    """
    with atomic_path(path) as partial, zipfile.ZipFile(partial, "w") as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content)
