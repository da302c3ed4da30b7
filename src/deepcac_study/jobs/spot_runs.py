"""Records that are made again from the raw files by this workflow, and the page of both."""

import csv
import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepcac.errors import DataError, DeepCACError
from deepcac.files.atomic import atomic_path
from deepcac.files.storage import read_json
from deepcac.pages.tables import Cell, Table
from deepcac.pages.templating import environment
from deepcac_study.records.commits import check_commits
from deepcac_study.records.record_archive import Row, manifest, read
from deepcac_study.records.spot_check import (
    CAME_BACK,
    MISSING,
    Compared,
    at_most_different,
    compare,
    draw,
)

log = logging.getLogger(__name__)
_HEAD = ("record", "verdict", "difference", "score", "shipped", "again", "seconds", "commit")


def spot_check(
    project: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    draws: int,
    seed: int,
    minutes: float | None = None,
    cores: int = 1,
) -> None:
    """Draw shipped records, make them again, and write the page of the comparison.

    They are made in `folder`, from raw files on, by the workflow and configuration of the clone
    `project`; it gets ``index.html`` and ``spotcheck.csv``. A check that was cut goes on from what
    lies there. For `draws`, `seed` and `minutes` see `deepcac_study.records.spot_check.draw`. A
    record that did not come back is a `DataError`; the page is written before.
    """
    archive = Path(project) / "docs" / "results" / "records"
    rows = manifest(archive)
    check_commits({row.path: row.commit for row in rows})
    drawn, population = draw(rows, draws, seed, minutes)
    share = f"{draws} of {len(population)} records"
    log.info("%s, about %.0f CPU minutes", share, sum(row.seconds for row in drawn) / 60)
    code = _make(Path(project).absolute(), Path(folder), drawn, cores)
    shipped = read(archive)
    found = [_compared(Path(folder), row, shipped[row.path]) for row in drawn]
    sizes = {"population": len(population), "shipped": len(shipped), "seed": seed}
    longest = max(row.seconds for row in population)
    _write_page(Path(folder), found, drawn, {**sizes, "longest": longest})
    lost = [one.path for one in found if one.verdict not in CAME_BACK]
    log.info("%d of %d came back; %s", draws - len(lost), draws, Path(folder) / "index.html")
    if lost:
        raise DataError(f"{', '.join(lost)}: not as shipped; see {Path(folder) / 'index.html'}")
    if code:
        raise DataError(f"{folder}: the workflow ended with {code}; call it again to go on")


def _make(project: Path, folder: Path, drawn: Sequence[Row], cores: int) -> int:
    """Let Snakemake make records alone, each by its name; return its exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    targets = [f"results/{row.path}" for row in drawn]
    call = [sys.executable, "-m", "snakemake", "--snakefile", str(project / "Snakefile")]
    call += ["--directory", str(folder), "--configfile", str(project / "config" / "config.yaml")]
    call += ["--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock"]
    return subprocess.run([*call, "--", *targets]).returncode


def _compared(folder: Path, row: Row, shipped: bytes) -> Compared:
    made = folder / "results" / row.path
    try:
        return compare(row.path, json.loads(shipped), read_json(made))
    except DeepCACError:
        return Compared(row.path, MISSING)


def _write_page(
    folder: Path, found: Sequence[Compared], drawn: Sequence[Row], told: Mapping[str, float]
) -> None:
    rows = [_texts(one, row) for one, row in zip(found, drawn, strict=True)]
    path = folder / "spotcheck.csv"
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([_HEAD, *rows])
    table = Table(
        id="spotcheck",
        title="Each record that was drawn",
        note="Difference: the largest one of a mean score. Seconds and commit: of the shipped one.",
        head=_HEAD,
        rows=[[Cell(text) for text in row] for row in rows],
        verdict="verdict",
    )
    different = sum(one.verdict not in CAME_BACK for one in found)
    text = (
        environment("deepcac_study.report.site")
        .get_template("spotcheck.html")
        .render(
            told,
            table=table,
            n=len(found),
            different=different,
            bound=at_most_different(int(told["population"]), len(found), different),
            counts=Counter(one.verdict for one in found),
        )
    )
    with atomic_path(folder / "index.html") as partial:
        partial.write_text(text, encoding="utf-8")


def _texts(one: Compared, row: Row) -> list[str]:
    numbers = (one.largest, one.shipped, one.again)
    largest, shipped, again = ("" if value != value else f"{value:.6g}" for value in numbers)
    seconds = f"{row.seconds:.1f}"
    return [one.path, one.verdict, largest, one.where, shipped, again, seconds, row.commit[:7]]
