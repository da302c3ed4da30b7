"""The page of a spot check: each record that was drawn, both numbers, and the bound."""

import csv
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deepcac.files.atomic import atomic_path
from deepcac.pages.tables import Cell, Table
from deepcac.pages.templating import environment
from deepcac_study.records.record_archive import Row
from deepcac_study.records.spot_check import CAME_BACK, Compared, at_most_different

_HEAD = ("record", "verdict", "difference", "score", "shipped", "again", "seconds", "commit")


def write_spot_page(
    folder: str | os.PathLike[str],
    found: Sequence[Compared],
    drawn: Sequence[Row],
    population: Sequence[Row],
    n_shipped: int,
    seed: int,
) -> None:
    """Write ``index.html`` and ``spotcheck.csv``.

    Parameters
    ----------
    folder : path-like
    found : sequence of Compared
        In the order of `drawn`.
    drawn, population : sequence of Row
        Of `deepcac_study.records.spot_check.draw`.
    n_shipped : int
        All records that ship.
    seed : int
        Of the draw.
    """
    rows = [_texts(one, row) for one, row in zip(found, drawn, strict=True)]
    path = Path(folder) / "spotcheck.csv"
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([_HEAD, *rows])
    table = Table(
        id="spotcheck",
        title="Each record that was drawn",
        note="Difference: the largest one of a mean score. Seconds and commit: of the shipped one.",
        head=_HEAD,
        rows=[[Cell(text) for text in row] for row in rows],
        n_labels=1,
        verdict="verdict",
    )
    different = sum(one.verdict not in CAME_BACK for one in found)
    content = {
        "table": table,
        "n": len(found),
        "different": different,
        "bound": at_most_different(len(population), len(found), different),
        "population": len(population),
        "shipped": n_shipped,
        "longest": max(row.seconds for row in population),
        "seed": seed,
        "counts": Counter(one.verdict for one in found),
    }
    text = environment("deepcac_study.report.site").get_template("spotcheck.html").render(content)
    with atomic_path(Path(folder) / "index.html") as partial:
        partial.write_text(text, encoding="utf-8")


def _texts(one: Compared, row: Row) -> list[str]:
    numbers = (one.largest, one.shipped, one.again)
    largest, shipped, again = ("" if value != value else f"{value:.6g}" for value in numbers)
    seconds = f"{row.seconds:.1f}"
    return [one.path, one.verdict, largest, one.where, shipped, again, seconds, row.commit[:7]]
