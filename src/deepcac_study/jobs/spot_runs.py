"""Spot check: drawn records are made again from the raw files, and compared on a page."""

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from deepcac.errors import DataError, DeepCACError
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_csv
from deepcac.files.storage import read_json
from deepcac.pages.sections import titled
from deepcac.pages.tables import Cell, Table
from deepcac.pages.templating import environment
from deepcac_study.raw.fetch import configured_mirrors
from deepcac_study.records.commits import check_commits
from deepcac_study.records.record_archive import ManifestRow, manifest, read, total_seconds
from deepcac_study.records.spot_check import (
    DIFFERENT,
    MISSING,
    WORST_FIRST,
    Compared,
    at_most_different,
    compare_records,
    draw,
    text_of,
)
from deepcac_study.records.tolerances import TOLERANCES, Tolerances, read_tolerances

log = logging.getLogger(__name__)
_PLACES = "places.yaml"
_HEAD = (
    *("record", "verdict", "family", "score", "difference", "of the tolerance", "shipped", "again"),
    *("seconds shipped", "seconds again", "commit"),
)


def spot_check(
    project: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    draws: int,
    seed: int,
    minutes: float | None = None,
    threads: int = 1,
    places: Mapping[str, Any] | None = None,
) -> None:
    """Draw shipped records, make them again, and write a page that compares them.

    They are made in `folder`, from raw files on, by the workflow and configuration of the clone
    `project`; the folder gets ``index.html`` and ``spotcheck.csv``. An interrupted check resumes
    from the files there. `places` has ``mirrors`` and ``restricted`` as in the configuration, with
    folders relative to the current one, and ``signature_backend``. For `draws`, `seed` and
    `minutes` see `deepcac_study.records.spot_check.draw`. A record that differs is a `DataError`,
    raised after the page is written.
    """
    archive = Path(project) / "docs" / "results" / "records"
    rows = manifest(archive)
    check_commits({row.path: row.commit for row in rows})
    drawn, population = draw(rows, draws, seed, minutes)
    share = f"{draws} of {len(population)} records"
    log.info("%s, about %.0f CPU minutes", share, sum(row.seconds for row in drawn) / 60)
    _write_places(Path(folder), places or {})
    code = _make(Path(project).absolute(), Path(folder), drawn, threads)
    shipped, tolerances = read(archive), read_tolerances(archive.parent / TOLERANCES)
    repeats = [_repeat(Path(folder), row, shipped[row.path], tolerances) for row in drawn]
    repeats.sort(key=lambda repeat: WORST_FIRST.index(repeat.compared.verdict))
    longest = max(row.seconds for row in population)
    sizes = {"population": len(population), "shipped": len(shipped), "longest": longest}
    page = _write_page(Path(folder), repeats, {**sizes, "seed": seed})
    other, absent = (
        ", ".join(one.row.path for one in repeats if one.compared.verdict == verdict)
        for verdict in (DIFFERENT, MISSING)
    )
    faults = [f"{other}: not as shipped"] if other else []
    faults += [f"{absent}: not made (the workflow ended with {code})"] if absent else []
    if faults:
        raise DataError(f"{'; '.join(faults)}; see {page}")
    if code:
        raise DataError(f"{folder}: the workflow ended with {code}; call it again to go on")
    log.info("all %d came back; %s", draws, page)


def _write_places(folder: Path, places: Mapping[str, Any]) -> None:
    """Write a configuration file with `places` for the workflow that runs in `folder`."""
    mirrors = configured_mirrors(places)
    absolute = {
        "mirrors": [name if "://" in name else os.path.abspath(name) for name in mirrors],
        "restricted": {
            source: name and os.path.abspath(name)
            for source, name in (places.get("restricted") or {}).items()
        },
        **{name: places[name] for name in ("signature_backend",) if name in places},
    }
    with atomic_path(folder / _PLACES) as partial:
        partial.write_text(json.dumps(absolute), encoding="utf-8")


def _make(project: Path, folder: Path, drawn: Sequence[ManifestRow], cores: int) -> int:
    """Run Snakemake with the drawn records as targets; return its exit code."""
    targets = [f"results/{row.path}" for row in drawn]
    call = [sys.executable, "-m", "snakemake", "--snakefile", str(project / "Snakefile")]
    call += ["--directory", str(folder), "--configfile", str(project / "config" / "config.yaml")]
    call.append(str((folder / _PLACES).absolute()))
    call += ["--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock"]
    return subprocess.run([*call, "--", *targets]).returncode


class _Repeat(NamedTuple):
    """A drawn record and the comparison with its repeat."""

    row: ManifestRow
    compared: Compared
    machine: Mapping[str, Any]  # of the repeat; empty where nothing was made

    @property
    def seconds(self) -> float:
        return total_seconds(self.machine.get("seconds") or {})


def _repeat(folder: Path, row: ManifestRow, shipped: bytes, tolerances: Tolerances) -> _Repeat:
    """Compare the shipped record with its repetition, or report that it is missing."""
    try:
        again = read_json(folder / "results" / row.path)
    except DeepCACError:
        return _Repeat(row, Compared(row.path, MISSING), {})
    compared = compare_records(row.path, json.loads(shipped), again, tolerances)
    return _Repeat(row, compared, again["machine"])


def _write_page(folder: Path, repeats: Sequence[_Repeat], numbers: Mapping[str, float]) -> Path:
    """Write the comparison as a table and as a page; return the path of the page."""
    rows = [_texts(repeat) for repeat in repeats]
    write_csv(folder / "spotcheck.csv", _HEAD, rows)
    table = Table(
        id="spotcheck",
        title="Each record that was drawn",
        note="Score: what lies furthest from the repeat, in parts of its tolerance.",
        head=_HEAD,
        rows=[[Cell(text) for text in row] for row in rows],
        verdict="verdict",
        mixed=True,  # a shared number of decimals would invent digits
    )
    verdicts = Counter(repeat.compared.verdict for repeat in repeats)
    different = verdicts[DIFFERENT] + verdicts[MISSING]
    template = environment("deepcac_study.report.site").get_template("spotcheck.html")
    text = template.render(
        numbers,
        title="A spot check of DeepCAC-repro",
        records=titled([table]),
        n=len(repeats),
        different=different,
        bound=at_most_different(int(numbers["population"]), len(repeats), different),
        counts=verdicts,
        machines=_machines(repeats),
        date=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
        seconds=[sum(repeat.row.seconds for repeat in repeats), sum(r.seconds for r in repeats)],
    )
    page = folder / "index.html"
    with atomic_path(page) as partial:
        partial.write_text(text, encoding="utf-8")
    return page


def _machines(repeats: Sequence[_Repeat]) -> list[tuple[str, ...]]:
    """Return rows of a property, its values in shipped records, and those in repeats."""
    made = [repeat.machine for repeat in repeats if repeat.machine]
    versions = [f"{name} {n}" for machine in made for name, n in machine["versions"].items()]
    sides = {
        "CPU": ([one.row.processor for one in repeats], [one["processor"] for one in made]),
        "commit": ([one.row.commit for one in repeats], [one.get("git_commit") for one in made]),
        "Python": ([], [one["python"] for one in made]),
        "versions": ([], versions),
    }
    return [
        (name, *("; ".join(sorted({str(value) for value in side if value})) for side in pair))
        for name, pair in sides.items()
    ]


def _texts(repeat: _Repeat) -> list[str]:
    found, row = repeat.compared, repeat.row
    numbers = (found.size, found.of_tolerance, found.shipped, found.again)
    again = f"{repeat.seconds:.1f}" if repeat.machine else ""
    return [
        *(row.path, found.verdict, found.family, found.where),
        *(*map(text_of, numbers), f"{row.seconds:.1f}", again, row.commit),
    ]
