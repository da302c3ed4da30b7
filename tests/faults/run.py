"""Provoke faults, and count how they end: same bytes, one clear line, or neither.

usage: python tests/faults/run.py [--parts NAME ...] [--kills N] [--csv docs/results/faults.csv]

Everything happens in copies of the project below a temporary folder; a part that needs root (a
full disk, a read-only folder) has a stand-in or is marked as not run. With DEEPCAC_MIRROR set,
runs on real data are killed as well. The rows of parts that are not run now stay in the table.
"""

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import arrow_types
import bits
import documents
import machine
import mirror
import models
import own_tables
import packed_tables
import parsers
import structures
import table_commands
from project import Project, Row

SPLITS = ("data/splits/demo_diabetes.parquet",)
REAL = ("results/titanic/cac_lr_k2.json",)


def unbroken(work: Path, targets: tuple[str, ...] | None = None, real: bool = False):
    """Return a finished project, its outcome and the seconds that it took."""
    own = Project.copy(work / "unbroken", *([targets] if targets else []), real=real)
    begin = time.monotonic()
    answer = own.run()
    if answer.code:
        raise SystemExit(f"the unbroken run failed:\n{answer.text}")
    return own, own.outcome(), time.monotonic() - begin


def kills(work: Path, given: argparse.Namespace) -> list[Row]:
    own, expected, seconds = unbroken(work, SPLITS)
    return [machine.kills(own, expected, given.kills, seconds, given.minutes)]


def real_kills(work: Path, given: argparse.Namespace) -> list[Row]:
    if not os.environ.get("DEEPCAC_MIRROR"):
        return [Row("killed (real data)", 0, 0, 0, "not run: DEEPCAC_MIRROR is not set")]
    own, expected, seconds = unbroken(work, REAL, real=True)
    return [machine.kills(own, expected, given.kills, seconds, given.minutes)]


def disk(work: Path, given: argparse.Namespace) -> list[Row]:
    own, expected, _ = unbroken(work, SPLITS)
    rows = [machine.file_limit(own, expected)]
    if machine.may_mount(work):
        return [machine.full_disk(own, expected, work), *rows, machine.read_only(own, work)]
    absent = "not run: nothing can be mounted here (needs root)"
    return [Row("disk full", 0, 0, 0, absent), *rows, Row("read-only folder", 0, 0, 0, absent)]


def places(work: Path, given: argparse.Namespace) -> list[Row]:
    own, expected, _ = unbroken(work, SPLITS)
    return [machine.folder_names(own, expected, work, given.names)]


def shared(work: Path, given: argparse.Namespace) -> list[Row]:
    own, expected, _ = unbroken(work)
    return [machine.two_runs(own, expected), machine.clock_back(own, expected)]


def flips(work: Path, given: argparse.Namespace) -> list[Row]:
    own, _, _ = unbroken(work)
    return bits.flips(own.folder, given.flips)


def servers(work: Path, given: argparse.Namespace) -> list[Row]:
    return mirror.behaviours(work)


def mutants(given: argparse.Namespace) -> range:
    """Return the seeds of the mutants that are asked for."""
    return range(given.first, given.first + given.mutants)


def fuzz(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return parsers.fuzz(work, mutants(given))


def fuzz_saved(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return models.fuzz_models(work, mutants(given), given.kinds)


def values(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return structures.structures(work, mutants(given))


def tables(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return own_tables.fuzz_tables(work, mutants(given), own_tables.KINDS | packed_tables.PACKED)


def yaml_documents(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return documents.fuzz_documents(work, mutants(given))


def arrow(work: Path, given: argparse.Namespace) -> list[Row]:
    return [arrow_types.fuzz_types(work, mutants(given))]


def commands(work: Path, given: argparse.Namespace) -> Iterable[Row]:
    return table_commands.faults(work, given.kills, given.columns)


PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterable[Row]]] = {
    "kills": kills,
    "real": real_kills,
    "disk": disk,
    "places": places,
    "shared": shared,
    "commands": commands,
    "flips": flips,
    "servers": servers,
    "fuzz": fuzz,
    "models": fuzz_saved,
    "values": values,
    "tables": tables,
    "arrow": arrow,
    "documents": yaml_documents,
}


def line(row: Row) -> str:
    """Return a row as text; what was not run has no figures."""
    figures = (row.tried, row.same, row.refused, row.other) if row.tried else ("–",) * 4
    return f"{row.fault}: {' | '.join(map(str, figures))} | {row.how}"


def write(path: Path, rows: list[Row]) -> None:
    """Write the rows of faults that were tried as a table of results."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("fault", "tried", "same", "refused", "neither", "how"))
        for row in rows:
            if row.tried:
                writer.writerow((row.fault, row.tried, row.same, row.refused, row.other, row.how))


def read(path: Path) -> list[Row]:
    """Return the rows of a table; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                row["fault"], *(int(row[name]) for name in ("tried", "same", "refused")), row["how"]
            )
            for row in csv.DictReader(file)
        ]


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """Return the old rows with new ones in their places; faults that are new come last."""
    found = {row.fault: row for row in old} | {row.fault: row for row in new}
    return list(found.values())


def main(arguments: list[str] | None = None) -> int:
    """Return the exit code: 1 if anything ended in neither way."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    reader.add_argument("--kills", type=int, default=20)
    reader.add_argument("--minutes", type=float, default=30.0, help="then no more kills are begun")
    reader.add_argument("--flips", type=int, default=400, help="one-bit flips a kind of file")
    reader.add_argument("--mutants", type=int, default=2000, help="inputs a parser, model or table")
    reader.add_argument("--first", type=int, default=0, help="seed of the first of them")
    reader.add_argument("--kinds", nargs="+", choices=models.KINDS, help="of models; else all")
    reader.add_argument("--names", type=int, default=len(machine.NAMES), help="folder names")
    reader.add_argument("--columns", type=int, default=100_000, help="of a table that is wide")
    reader.add_argument(
        "--csv", type=Path, help="table of results whose rows of these parts change"
    )
    given = reader.parse_args(arguments)
    neither = 0
    for part in given.parts:
        with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as work:
            for row in PARTS[part](Path(work), given):
                print(line(row), flush=True)
                neither += row.other
                if given.csv:
                    write(given.csv, merged(read(given.csv), [row]))
    return int(neither > 0)


if __name__ == "__main__":
    sys.exit(main())
