"""Shipped pages of subtypes, for a report without data and score files.

python -m deepcac_study.report.subtypes.shipped_subtypes docs/results results/cic/deepcac_k3.json
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json
from deepcac.pages.tables import Cell, Table
from deepcac_study.catalogue.registry import load_registry
from deepcac_study.records.runs import load
from deepcac_study.report.subtypes.subtype_figures import subtype_figure
from deepcac_study.report.subtypes.subtypepages import SubtypePage, subtype_pages

FOLDER = "subtypes"  # among the shipped tables
_TABLES = ("who", "medians", "risk", "factors")


def keep(
    folder: str | os.PathLike[str], records: Iterable[str | os.PathLike[str]], project: Path
) -> list[Path]:
    """Write the public pages of some runs as JSON; return the files.

    Parameters
    ----------
    folder : path-like
        Folder of the shipped tables.
    records : iterable of path-like
        Run records of open data, next to their score files.
    project : Path
        Folder with ``config/registry`` and ``data/features``.

    Raises
    ------
    DataError
        A run is of restricted data.
    """
    registry_dir = project / "config" / "registry"
    runs, registry = load(records, project), load_registry(registry_dir)
    for run in runs:
        if registry.source(registry.dataset(run.dataset).source).closed:
            raise DataError(f"{run.path}: is of restricted data; its page of subtypes never ships")
    written = []
    for page in subtype_pages(runs, registry_dir, project / "data" / "features", public=True):
        written.append(Path(folder) / FOLDER / f"{page.id}.json")
        content = asdict(replace(page, figure=None))
        profile = content.pop("profile").round(3).astype(object)
        lines = profile.where(profile.notna(), None).reset_index().to_numpy().tolist()
        content["lines"] = [[name, differences] for name, *differences in lines]
        write_json(written[-1], content)
    return written


def shipped_pages(folder: str | os.PathLike[str]) -> Iterator[SubtypePage]:
    """Yield the shipped pages."""
    for path in sorted((Path(folder) / FOLDER).glob("*.json")):
        page = read_json(path)
        del page["digest"]
        page |= {name: _table(page[name]) for name in _TABLES}
        names, rows = zip(*page.pop("lines"), strict=True)
        columns = [f"subtype {j + 1}" for j in range(page["k"])]
        page["profile"] = pd.DataFrame(rows, names, columns, dtype=float)
        stored = SubtypePage(**page)
        heading = f"{stored.title}, {stored.dataset}"
        figure = subtype_figure(stored.id, heading, stored.profile, synthetic=stored.synthetic)
        yield replace(stored, figure=figure)


def _table(table: dict[str, Any]) -> Table:
    rows = [[Cell(**cell) for cell in row] for row in table.pop("rows")]
    return Table(**table, rows=rows)


def main() -> None:
    """Write the pages of the named runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("records", nargs="+")
    asked = parser.parse_args()
    for path in keep(asked.folder, asked.records, Path.cwd()):
        print(path)


if __name__ == "__main__":
    main()
