"""Records that are made again from the raw files by this workflow, and the page of both."""

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from deepcac.errors import DataError, DeepCACError
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_csv
from deepcac.files.storage import read_json
from deepcac.pages.tables import Cell, Table
from deepcac.pages.templating import environment
from deepcac_study.raw.fetch import configured_mirrors
from deepcac_study.records.commits import check_commits
from deepcac_study.records.cpu_bounds import BOUNDS, Bounds, read_bounds
from deepcac_study.records.record_archive import ManifestRow, manifest, read, total_seconds
from deepcac_study.records.spot_check import (
    CAME_BACK,
    MISSING,
    WORST_FIRST,
    Compared,
    at_most_different,
    compare,
    draw,
    text_of,
)

log = logging.getLogger(__name__)
_PLACES = "places.yaml"
_HEAD = (
    *("record", "verdict", "family", "score", "difference", "of the bound", "shipped", "again"),
    *("not judged: shipped / again", "seconds shipped", "seconds again", "commit"),
)


def spot_check(
    project: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    draws: int,
    seed: int,
    minutes: float | None = None,
    cores: int = 1,
    places: Mapping[str, Any] | None = None,
) -> None:
    """Draw shipped records, make them again, and write the page of the comparison.

    They are made in `folder`, from raw files on, by the workflow and configuration of the clone
    `project`; it gets ``index.html`` and ``spotcheck.csv``. A check that was cut goes on from what
    lies there. Of `places`, ``mirrors`` and ``restricted`` of the configuration are where the raw
    files are, with folders relative to this one; ``signature_backend`` is passed on. For `draws`,
    `seed` and `minutes` see `deepcac_study.records.spot_check.draw`. A record that did not come
    back is a `DataError`; the page is written before.
    """
    archive = Path(project) / "docs" / "results" / "records"
    rows = manifest(archive)
    check_commits({row.path: row.commit for row in rows})
    drawn, population = draw(rows, draws, seed, minutes)
    share = f"{draws} of {len(population)} records"
    log.info("%s, about %.0f CPU minutes", share, sum(row.seconds for row in drawn) / 60)
    _write_places(Path(folder), places or {})
    code = _make(Path(project).absolute(), Path(folder), drawn, cores)
    shipped, bounds = read(archive), read_bounds(archive.parent / BOUNDS)
    repeats = [_repeat(Path(folder), row, shipped[row.path], bounds) for row in drawn]
    longest = max(row.seconds for row in population)
    sizes = {"population": len(population), "shipped": len(shipped), "longest": longest}
    _write_page(Path(folder), repeats, {**sizes, "seed": seed})
    verdicts = {repeat.row.path: repeat.compared.verdict for repeat in repeats}
    absent = [path for path, verdict in verdicts.items() if verdict == MISSING]
    other = [path for path in verdicts if verdicts[path] not in (*CAME_BACK, MISSING)]
    page = Path(folder) / "index.html"
    log.info("%d of %d came back; %s", draws - len(absent) - len(other), draws, page)
    faults = [(other, "not as shipped"), (absent, f"not made (the workflow ended with {code})")]
    if named := [f"{', '.join(paths)}: {fault}" for paths, fault in faults if paths]:
        raise DataError(f"{'; '.join(named)}; see {page}")
    if code:
        raise DataError(f"{folder}: the workflow ended with {code}; call it again to go on")


def _write_places(folder: Path, places: Mapping[str, Any]) -> None:
    """Write where raw files are and what computes, for a workflow that runs in another folder."""
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
    """Let Snakemake make records alone, each by its name; return its exit code."""
    targets = [f"results/{row.path}" for row in drawn]
    call = [sys.executable, "-m", "snakemake", "--snakefile", str(project / "Snakefile")]
    call += ["--directory", str(folder), "--configfile", str(project / "config" / "config.yaml")]
    call.append(str((folder / _PLACES).absolute()))
    call += ["--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock"]
    return subprocess.run([*call, "--", *targets]).returncode


class _Repeat(NamedTuple):
    """A drawn record with what came of making it again."""

    row: ManifestRow
    compared: Compared
    machine: Mapping[str, Any]  # of the repeat; empty where nothing was made


def _repeat(folder: Path, row: ManifestRow, shipped: bytes, bounds: Bounds) -> _Repeat:
    try:
        again = read_json(folder / "results" / row.path)
    except DeepCACError:
        return _Repeat(row, Compared(row.path, MISSING), {})
    return _Repeat(row, compare(row.path, json.loads(shipped), again, bounds), again["machine"])


def _write_page(folder: Path, repeats: Sequence[_Repeat], numbers: Mapping[str, float]) -> None:
    ordered = sorted(repeats, key=lambda repeat: WORST_FIRST.index(repeat.compared.verdict))
    rows = [_texts(repeat) for repeat in ordered]
    write_csv(folder / "spotcheck.csv", _HEAD, rows)
    table = Table(
        id="spotcheck",
        title="Each record that was drawn",
        note="Score: what lies furthest from the repeat, in parts of its bound; 1 is the bound. "
        "Not judged: means over the splits of what depends on a threshold or on labels.",
        head=_HEAD,
        rows=[[Cell(text) for text in row] for row in rows],
        verdict="verdict",
        mixed=True,  # a shared number of decimals would invent digits
    )
    verdicts = [repeat.compared.verdict for repeat in ordered]
    different = sum(verdict not in CAME_BACK for verdict in verdicts)
    text = (
        environment("deepcac_study.report.site")
        .get_template("spotcheck.html")
        .render(
            numbers,
            table=table,
            n=len(repeats),
            different=different,
            bound=at_most_different(int(numbers["population"]), len(repeats), different),
            counts=Counter(verdicts),
            machines=_machines(ordered),
            date=datetime.now(UTC).strftime("%d %B %Y").lstrip("0"),
            seconds=(sum(repeat.row.seconds for repeat in repeats), sum(map(_seconds, repeats))),
        )
    )
    with atomic_path(folder / "index.html") as partial:
        partial.write_text(text, encoding="utf-8")


def _machines(repeats: Sequence[_Repeat]) -> list[tuple[str, str, str]]:
    """Return what shipped records and repeats were made with: a name and both sides' values."""
    made = [repeat.machine for repeat in repeats if repeat.machine]
    versions = sorted(
        {f"{name} {n}" for machine in made for name, n in machine["versions"].items()}
    )
    commits = sorted({str(machine.get("git_commit") or "unknown") for machine in made})
    return [
        (
            "CPU",
            _several(repeat.row.processor for repeat in repeats),
            _several(str(machine["processor"]) for machine in made),
        ),
        ("told to use fewer instructions", "", _several(_fewer_instructions())),
        ("commit", _several(repeat.row.commit for repeat in repeats), _several(commits)),
        ("Python", "", _several(str(machine["python"]) for machine in made)),
        ("versions", "", _several(versions)),
    ]


def _fewer_instructions() -> Iterator[str]:
    """Yield what stands in the environment to make libraries compute as on another CPU."""
    for name in ("OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "NUMBA_CPU_NAME"):
        if os.environ.get(name):
            yield f"{name}={os.environ[name]}"


def _several(values: Iterable[str]) -> str:
    return "; ".join(sorted({value for value in values if value}))


def _seconds(repeat: _Repeat) -> float:
    return total_seconds(repeat.machine.get("seconds") or {})


def _texts(repeat: _Repeat) -> list[str]:
    compared = repeat.compared
    return [
        *(repeat.row.path, compared.verdict, compared.family, compared.where),
        *(text_of(compared.largest), text_of(compared.of_bound)),
        *(text_of(compared.shipped), text_of(compared.again), compared.shown),
        *(
            f"{repeat.row.seconds:.1f}",
            f"{_seconds(repeat):.1f}" if repeat.machine else "",
            repeat.row.commit,
        ),
    ]
