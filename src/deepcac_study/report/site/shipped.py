"""The report of the real study from what ships with the project: no data, no runs, no score files.

python -m deepcac_study.report.site.shipped study
"""

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from deepcac.errors import one_line_errors
from deepcac.files.storage import read_json
from deepcac_study.records import record_archive
from deepcac_study.records.commits import check_commits
from deepcac_study.report.kept.snapshot import MEASURED
from deepcac_study.report.site.page import ShippedRecords, build

_PROJECT = Path(__file__).resolve().parents[4]


def report_shipped(
    folder: str | os.PathLike[str], project: str | os.PathLike[str] = _PROJECT, threads: int = 1
) -> Path:
    """Lay the shipped records in a folder and make the report of them and of the kept tables.

    The folder gets ``results/``, with the records and ``report/``, whose first page is returned.
    Every printed cell and claim is decided here. What needs score files or the rows of patients is
    left out.
    """
    archive, results = Path(project) / "docs" / "results", Path(folder) / "results"
    rows = record_archive.manifest(archive / "records")
    check_commits({row.path: row.commit for row in rows})
    # The folder is the report's own: records of an earlier release are no longer what ships.
    record_archive.lay(archive / "records", results, replace=True)
    shutil.copytree(archive / MEASURED, results, dirs_exist_ok=True)
    laid = frozenset(str(results / row.path) for row in rows)
    measured = (
        path for kind in ("csv", "json") for path in (archive / MEASURED).rglob(f"*.{kind}")
    )
    build(
        [*laid, *(results / path.relative_to(archive / MEASURED) for path in measured)],
        Path(project) / "config" / "registry",
        results / "report",
        shipped=ShippedRecords(
            archive, laid, _made_from(rows, read_json(archive / "about.json")["date"])
        ),
        threads=threads,
    )
    return results / "report" / "index.html"


def _made_from(rows: Sequence[record_archive.ManifestRow], day: str) -> str:
    """Say what the report is made from, and what it leaves out."""
    commits = Counter(row.commit[:7] for row in rows).most_common()
    processors = Counter(row.processor for row in rows).most_common()
    return (
        f"Made from the {len(rows):,} records that ship with the project (commits "
        f"{_listed(commits)}; CPUs {_listed(processors)}) and from its kept tables of {day}: "
        "curves, sweeps and the verdicts of our study. Every printed value and claim is decided "
        "from these. Subtypes and pictures of data need score files and data: "
        "snakemake all makes them."
    )


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name or 'unknown'} ({number:,})" for name, number in counts)


def main() -> None:
    """Make the report in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    print(f"The report is {report_shipped(asked.folder, threads=asked.threads)}")


if __name__ == "__main__":
    with one_line_errors():
        main()
