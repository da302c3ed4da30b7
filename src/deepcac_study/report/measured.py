"""Shipped measurements that are in no record: sweeps, times, case studies, curves of row scores.

python -m deepcac_study.report.measured results docs/results

writes those of open data. Curves, calibration and bootstraps are those of the last report.
"""

import argparse
import re
from pathlib import Path

from deepcac.errors import one_line_errors
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json
from deepcac_study.papers.names import paper_datasets, restricted
from deepcac_study.records.sweep_tables import measured_tables, read_measured
from deepcac_study.report.runs.curves import (
    BOOTSTRAPS,
    CALIBRATION,
    CURVES,
    curve_table,
    shipped_table,
)

MEASURED = "measured"  # the folder of what decides claims and is no record of a run
_SWEEP = re.compile(r"^[a-z]+_(?=.*_k\d+$)|_k\d+$")  # a sweep's name around the data set


def open_datasets() -> frozenset[str]:
    """Return the open data sets of the papers, without generated ones."""
    return paper_datasets() - restricted().keys()


def write_measured(results: Path, folder: Path) -> list[Path]:
    """Write measurements that are not run records to a folder, laid out as in ``results``."""
    files = []
    for path in open_tables(results / "sweeps"):
        files.append(folder / path.relative_to(results).with_suffix(".csv"))
        write_frame(files[-1], read_measured(path))
    studies = sorted((results / "case_study").rglob("*.json"))
    open_ones = [path for path in studies if read_json(path)["dataset"] in open_datasets()]
    means = (path.with_suffix(".features.parquet") for path in open_ones)
    for path in (*(results / "skmeans").glob("*.json"), *open_ones, *means):
        files.append(folder / path.relative_to(results))
        with atomic_path(files[-1]) as partial:
            partial.write_bytes(path.read_bytes())
    return files


def open_tables(folder: Path) -> list[Path]:
    """Return the paths of sweeps of open data, and of the grid, which is generated for a paper."""
    names = {path: _SWEEP.sub("", path.stem) for path in measured_tables(folder)}
    return [path for path, name in names.items() if name in open_datasets() | {"grid"}]


def write_row_scores(report: Path, folder: Path) -> list[Path]:
    """Write the curves, calibration and bootstrap intervals of a report."""
    tables = {
        name: curve_table(report / "figures", name, open_datasets())
        for name in (CURVES, CALIBRATION)
    }
    intervals = shipped_table(report / "tables", BOOTSTRAPS, ["first"])
    datasets = intervals["first"].map(lambda path: Path(path).parent.name)
    tables[BOOTSTRAPS] = intervals[datasets.isin(open_datasets())]
    files = [folder / f"{name}.csv" for name, table in tables.items() if len(table)]
    for path in files:
        write_frame(path, tables[path.stem], None if path.stem == BOOTSTRAPS else 5)
    return files


def main() -> None:
    """Write the measurements of a folder of results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    measured = write_measured(asked.results, asked.folder / MEASURED)
    for path in [*measured, *write_row_scores(asked.results / "report", asked.folder)]:
        print(path)


if __name__ == "__main__":
    with one_line_errors():
        main()
