"""How far repeats on other CPUs lie from the shipped records, and the tolerances that follow.

The rule: a family's tolerance for a metric is `MARGIN` times its largest difference in
``cpu_repeats.csv``, and no less than `LEAST`. A metric of fewer than `FEW` records has the largest
difference of its family by any metric. ``repeats_within.csv`` says how many records of two
other runs, on CPUs that the rule has not seen, lie within the tolerances.
``python benchmarks/cpu_repeats.py CPU=RESULTS ...`` measures folders of repeats (``tests/cpus.py``
tells what makes a machine compute as an older CPU); without a folder only the rule is applied.
"""

import csv
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deepcac.files.csv_files import write_csv
from deepcac.files.storage import read_json
from deepcac_study.records.record_archive import read
from deepcac_study.records.repeated_values import NO_SCORES, Record, smallest_test
from deepcac_study.records.tolerances import (
    LEAST,
    METRICS,
    OTHER,
    TOLERANCES,
    Family,
    RepeatDifference,
    Tolerances,
    allowed,
    family,
    metric_of,
    read_tolerances,
    repeat_differences,
    units_of,
)

RESULTS = Path(__file__).parents[1] / "docs" / "results"
REPEATS, WITHIN = "cpu_repeats.csv", "repeats_within.csv"
OTHER_RUNS = ("repeats_again.csv", "repeats_other_cpu.csv")
FEW = 5  # records, of which the largest difference says too little
MARGIN = 2.0  # a few dozen repeats do not show the largest difference that there is


class Gap(NamedTuple):
    """The largest differences of a record that was made again, in the unit of its family."""

    record: str
    cpu: str
    family: str
    metric: str
    split: float
    mean: float


class Tolerance(NamedTuple):
    """How far a repeat may lie from the shipped record, in the unit of its family."""

    family: str
    metric: str
    repeats: int  # records that it was measured on
    split: float
    mean: float


def gaps(path: str, cpu: str, shipped: Record, again: Record) -> list[Gap]:
    """Return the largest differences of a record by family and metric."""
    largest: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: {"split": 0, "mean": 0})
    for one in repeat_differences(path, shipped, again):
        parts = largest[one.family, one.metric]
        parts[one.part] = max(parts[one.part], float(f"{one.size / one.unit:.3g}"))
    return [Gap(path, cpu, *key, **parts) for key, parts in largest.items()]


def tolerances(measured: Sequence[Gap]) -> Iterator[Tolerance]:
    """Yield what repeats give for every family that was measured, and every metric."""
    for kind in Family:
        of_family = [gap for gap in measured if gap.family == kind]
        for metric in (*METRICS, OTHER) if of_family else ():
            of_metric = [gap for gap in of_family if gap.metric == metric]
            records = len({gap.record for gap in of_metric})
            used = of_family if records < FEW else of_metric
            largest = max(gap.split for gap in used), max(gap.mean for gap in used)
            sizes = (max(LEAST, float(f"{MARGIN * size:.2g}")) for size in largest)
            yield Tolerance(kind, metric, records, *sizes)


def measure(shipped: Mapping[str, bytes], cpu: str, folder: Path) -> Iterator[Gap]:
    """Yield the gaps of every record in a folder ``results``."""
    for path in sorted(folder.rglob("*.json")):
        place = path.relative_to(folder).as_posix()
        if place in shipped:
            yield from gaps(place, cpu, json.loads(shipped[place]), read_json(path))


def verdict(row: Mapping[str, str], record: Record, table: Tolerances) -> str:
    """Say whether the furthest score of a repeat lies within its tolerance.

    A score that is not compared, such as a silhouette, says something of the others only where it
    hardly differs. The deviation over the splits is that of the shipped record.
    """
    place, _, split = row["score"].partition(", ")
    *start, name = [part for part in place.split(".") if not part.isdigit()]
    of_mean = split == "mean" or name == "mean"
    name = start[-1] if name == "mean" else name
    size = float(row["difference"] or "inf")
    if size > LEAST and name in NO_SCORES:
        return "unknown"
    values = [one["metrics"].get(name) for one in record.get("splits", [])]
    again = [float(row["again"] or "nan")] if None in values or not values else values
    kind = family(row["record"], record)
    unit = float(units_of(kind, np.array(again, dtype=np.float64)).mean())
    part = "mean" if of_mean else "split"
    one = RepeatDifference(kind, metric_of(name), part, "", 0.0, 0.0, size, unit)
    return "within" if size <= allowed(one, table, smallest_test(record)) else "outside"


def count_within(shipped: Mapping[str, bytes], table: Tolerances) -> Iterator[list[object]]:
    """Yield for each other run and family how many repeats lie within the tolerances."""
    for name in OTHER_RUNS:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        with open(RESULTS / name, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["record"] in shipped:
                    record = json.loads(shipped[row["record"]])
                    counts[family(row["record"], record)][verdict(row, record, table)] += 1
        for kind in Family:
            if found := counts[kind]:
                yield [name, kind, found.total(), *(found[v] for v in ("within", "outside"))]


def main() -> None:
    shipped = read(RESULTS / "records")
    folders = dict(pair.split("=", 1) for pair in sys.argv[1:])
    with open(RESULTS / REPEATS, encoding="utf-8") as file:
        known = [Gap(*row[:4], float(row[4]), float(row[5])) for row in list(csv.reader(file))[1:]]
    new = [gap for cpu, folder in folders.items() for gap in measure(shipped, cpu, Path(folder))]
    again = {(gap.record, gap.cpu) for gap in new}
    old = (gap for gap in known if (gap.record, gap.cpu) not in again)
    measured = [*new, *(gap for gap in old if gap.record in shipped)]
    table = list(tolerances(measured))
    write_csv(RESULTS / REPEATS, Gap._fields, sorted(measured))
    write_csv(RESULTS / TOLERANCES, Tolerance._fields, table)
    held = count_within(shipped, read_tolerances(RESULTS / TOLERANCES))
    write_csv(RESULTS / WITHIN, ["table", "family", "records", "within", "outside"], held)


if __name__ == "__main__":
    main()
