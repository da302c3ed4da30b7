"""Records that are made again from the raw files, in a folder of their own, by this workflow."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from deepcac.errors import DataError, DeepCACError
from deepcac.files.storage import read_json
from deepcac_study.records.provenance import check_commits
from deepcac_study.records.record_archive import Row, manifest, read
from deepcac_study.records.spot_check import CAME_BACK, MISSING, Compared, compare, draw
from deepcac_study.report.site.spot_page import write_spot_page

log = logging.getLogger(__name__)


def spot_check(
    project: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    draws: int,
    seed: int,
    minutes: float | None = None,
    cores: int = 1,
) -> None:
    """Draw shipped records, make them again, and write the page of the comparison.

    Parameters
    ----------
    project : path-like
        The clone: its workflow, configuration and ``docs/results/records``.
    folder : path-like
        Where they are made, from raw files on; it gets ``index.html`` and ``spotcheck.csv``. A
        check that was cut goes on from what lies there.
    draws, seed, minutes
        See `deepcac_study.records.spot_check.draw`.
    cores : int

    Raises
    ------
    DataError
        A record did not come back; the page is written before.
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
    write_spot_page(folder, found, drawn, population, len(shipped), seed)
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
