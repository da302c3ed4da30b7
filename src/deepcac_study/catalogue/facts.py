"""Facts of the papers: printed tables, settings, names and claims, as CSV in ``papers/``."""

import csv
from functools import cache
from importlib import resources

from deepcac.errors import ConfigError


@cache
def facts(name: str, folder: str = "") -> list[dict[str, str]]:
    """Return the rows of a file of facts, named without ``.csv``; `ConfigError` if there is none.

    A printed table, such as ``cac_v1_table3_alpha``, is in its paper's folder. ``tables``,
    ``claims``, ``names``, ``figures`` and ``hyperparameters`` are in each folder, and are
    concatenated in alphabetical order; with `folder`, only that folder is read.
    """
    papers = resources.files("deepcac_study") / "papers"
    folders = [papers / folder] if folder else sorted(papers.iterdir(), key=str)
    files = [file for place in folders if (file := place / f"{name}.csv").is_file()]
    if not files:
        raise ConfigError(f"no facts {name!r} in {papers / folder}")
    texts = (file.read_text(encoding="utf-8") for file in files)
    return [row for text in texts for row in csv.DictReader(text.splitlines())]
