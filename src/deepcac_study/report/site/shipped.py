"""The report of the real study from the shipped files, without data, runs or score files.

python -m deepcac_study.report.site.shipped study
"""

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from deepcac.errors import one_line_errors
from deepcac_study.catalogue.judge_plan import Judge, read_judge
from deepcac_study.judge.clinical_tasks import TABLES, write_clinical
from deepcac_study.judge.judgement_files import write_judgement
from deepcac_study.judge.study_files import CLINICAL, PLANTED
from deepcac_study.records import record_archive
from deepcac_study.records.commits import check_commits
from deepcac_study.records.reader import JUDGED, by_kind
from deepcac_study.report.measured import MEASURED
from deepcac_study.report.site.page import ShippedRecords, build

PROJECT = Path(__file__).resolve().parents[4]


def report_shipped(
    folder: str | os.PathLike[str], project: str | os.PathLike[str] = PROJECT, threads: int = 1
) -> Path:
    """Write the shipped records to a folder, make the report, and return its first page.

    The folder gets ``results/`` with the records, the shipped measurements, the judge's tables, and
    ``report/``. Every printed cell and claim is decided here. Anything that needs score files or
    rows of patients is left out, except shipped curves and bootstrap intervals.
    """
    archive, results = Path(project) / "docs" / "results", Path(folder) / "results"
    rows = record_archive.manifest(archive / "records")
    check_commits({row.path: row.commit for row in rows})
    # The folder belongs to the report: records of an earlier release are overwritten.
    record_archive.lay(archive / "records", results, replace=True)
    shutil.copytree(archive / MEASURED, results, dirs_exist_ok=True)
    records = shipped_records(results, project)
    plan = read_judge(Path(project) / "config" / "config.yaml")
    build(
        [*records, *measured_files(results, project), *_judge(records, results, plan)],
        Path(project) / "config" / "registry",
        results / "report",
        shipped=ShippedRecords(archive, frozenset(map(str, records)), _made_from(rows)),
        threads=threads,
    )
    return results / "report" / "index.html"


def shipped_records(results: Path, project: str | os.PathLike[str] = PROJECT) -> list[Path]:
    """Return the paths of the shipped records below ``results``."""
    archive = Path(project) / "docs" / "results" / "records"
    return [results / row.path for row in record_archive.manifest(archive)]


def measured_files(results: Path, project: str | os.PathLike[str] = PROJECT) -> list[Path]:
    """Return the paths of the shipped measurements below ``results``."""
    folder = Path(project) / "docs" / "results" / MEASURED
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".csv", ".json"))
    return [results / path.relative_to(folder) for path in paths]


def _judge(records: Iterable[Path], results: Path, plan: Judge) -> list[Path]:
    """Write the judge's tables from the records, as ``snakemake judge`` does; return the paths."""
    files, folder = by_kind(records), results / JUDGED
    table, summary = folder / "verdicts.csv", folder / "summary.json"
    margins = {"margin": plan.margin, "strict": plan.strict_margin}
    write_judgement(table, summary, files[JUDGED], files[PLANTED], **margins)
    clinical = [folder / CLINICAL / f"{name}.csv" for name in TABLES]
    tasks = plan.clinical.model_dump()
    write_clinical(clinical, files[CLINICAL], clinical=tasks, strict=plan.strict_margin)
    return [table, summary, *clinical]


def _made_from(rows: Sequence[record_archive.ManifestRow]) -> str:
    """Return a text on the origin of the report, and on what it leaves out."""
    commits = Counter(row.commit[:7] for row in rows).most_common()
    processors = Counter(row.processor for row in rows).most_common()
    return (
        f"Made from the {len(rows):,} records that ship with the project (commits "
        f"{_listed(commits)}; CPUs {_listed(processors)}) and from what else was measured: sweeps, "
        "times, curves and bootstrap intervals. Every printed value and claim is decided from "
        "these. Subtypes and pictures of data need score files and data: snakemake all makes them."
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
