"""Facts of the papers: printed tables, settings and claims, one CSV each in ``papers/``."""

import csv
from functools import cache
from importlib import resources

from deepcac.errors import ConfigError


@cache
def facts(name: str) -> list[dict[str, str]]:
    """Return the rows of one file of facts.

    Parameters
    ----------
    name : str
        File name without ``.csv``, for example ``cac_v1_table3_alpha``. It lies in the folder of
        its paper, or beside these folders if it is about all papers.
    """
    papers = resources.files("deepcac") / "papers"
    for folder in (papers, *sorted((f for f in papers.iterdir() if f.is_dir()), key=str)):
        file = folder / f"{name}.csv"
        if file.is_file():
            return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    raise ConfigError(f"no facts {name!r} in {papers}")
