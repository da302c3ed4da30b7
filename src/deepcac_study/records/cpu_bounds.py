"""How far a repeat on another CPU may lie from a shipped record, as measured.

The measurement is ``docs/results/cpu_repeats.csv``: records that were made again as on two other
CPUs (``tests/cpus.py``). From it come ``docs/results/cpu_bounds.csv`` and every bound.

python -m deepcac_study.records.cpu_bounds docs/results/records docs/results AS=RESULTS ...
"""

import argparse
import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deepcac.errors import DataError
from deepcac.files.csv_files import write_csv
from deepcac.files.storage import read_json
from deepcac_study.catalogue.facts import facts
from deepcac_study.records.deciding import (
    BY_DEVIATION,
    LOSS,
    OTHER,
    SCORES,
    Family,
    ScoreSeries,
    deciding,
    family,
)
from deepcac_study.records.record_archive import read

REPEATS, BOUNDS, OLDER = "cpu_repeats.csv", "cpu_bounds.csv", "repeats_other_cpu.csv"
LEAST_DEVIATION = 0.005  # of a score over the splits: three to five of them may lie close by chance
LEAST = 0.001  # of families whose repeats hardly differ; a smaller forgery changes no verdict
# Of the deviation over the splits, of networks: last digits send a training another way, and then
# a split differs by as much as from another start; the mean of five by a part of that.
LEAST_SPLIT, LEAST_MEAN = 4.0, 1.5
LEAST_TIE = 0.02  # where another alpha is as good on the validation rows, test scores may move
MARGIN = 2.0  # a few dozen repeats do not show the largest difference that there is


class Gap(NamedTuple):
    """How far a repeat's score lies from that of the shipped record.

    In deviations over the splits for networks; else in the score's own unit, above 1 as a share.
    """

    record: str
    cpu: str
    family: str
    score: str
    split: float  # the largest difference of a split
    mean: float  # the difference of the means


class Bound(NamedTuple):
    """What is allowed for a score of a family, in the unit of `Gap`."""

    family: str
    score: str
    unit: str
    repeats: int
    split_nine_in_ten: float
    split_largest: float
    split_bound: float
    mean_nine_in_ten: float
    mean_largest: float
    mean_bound: float


Bounds = Mapping[tuple[str, str], Bound]


def gap(series: ScoreSeries) -> tuple[float, float]:
    """Return the largest difference of a split, and that of the means, in the unit of `Gap`.

    A value that one side lacks is infinitely far.
    """
    ours, theirs = series.shipped, series.again
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return np.inf, np.inf
    there = ~np.isnan(ours)
    ours, theirs = ours[there], theirs[there]
    apart = ours - theirs
    if series.family in BY_DEVIATION and len(theirs) > 1:
        # Of the repeat: that of a forged record could be anything.
        unit = max(float(theirs.std(ddof=1)), LEAST_DEVIATION)
        return float(np.abs(apart).max()) / unit, abs(float(apart.mean())) / unit
    share = np.maximum(1.0, np.abs(theirs))
    of_mean = max(1.0, abs(float(theirs.mean())))
    return float(np.abs(apart / share).max()), abs(float(apart.mean())) / of_mean


def measure(shipped: Mapping[str, bytes], repeats: Mapping[str, Path]) -> Iterator[Gap]:
    """Yield every gap of the records that lie in folders ``results``, by the name of the CPU."""
    for cpu, folder in repeats.items():
        for path in sorted(folder.rglob("*.json")):
            place = path.relative_to(folder).as_posix()
            if place in shipped:
                yield from gaps(place, json.loads(shipped[place]), read_json(path), cpu)


def earlier(target: Path, shipped: Mapping[str, bytes]) -> Iterator[Gap]:
    """Yield what is known of other CPUs from before: the tables `OLDER` and ``machine_losses``.

    The first has the largest difference of a mean in each record, the second has losses.
    """
    with open(target / OLDER, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = row["score"].split(".")
            if row["record"] not in shipped or place[0] != "summary" or place[1] not in SCORES:
                continue
            content = json.loads(shipped[row["record"]])
            kind = family(row["record"], content)
            if kind not in BY_DEVIATION:
                apart = float(row["difference"]) / max(1.0, abs(float(row["again"])))
                # One split may have moved the mean.
                far = [float(f"{x:.3g}") for x in (apart * len(content["splits"]), apart)]
                yield Gap(row["record"], "AMD EPYC, cpu family 25", kind, place[1], *far)
    losses: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in facts("machine_losses", "supervised_kmeans"):
        path = f"skmeans/{row['dataset']}/{row['method']}.json"
        losses[path, str(row["source"])][str(row["clustering"])] = float(row["loss"])
    for (path, source), theirs in losses.items():
        content = json.loads(shipped[path])
        ours = defaultdict(list)
        for repeat in content["repeats"]:
            for fold in repeat["folds"]:
                ours[fold["test"]].append(fold["loss"])
        names = sorted(theirs.keys() & ours)
        pair = [[np.mean(ours[name]) for name in names], [theirs[name] for name in names]]
        series = ScoreSeries(family(path, content), OTHER, LOSS, *np.array(pair, dtype=np.float64))
        yield Gap(path, source, series.family, OTHER, *(float(f"{x:.3g}") for x in gap(series)))


def gaps(
    path: str, shipped: Mapping[str, Any], again: Mapping[str, Any], cpu: str
) -> Iterator[Gap]:
    """Yield the gaps of a record, the largest of each family and score."""
    largest: dict[tuple[str, str], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for series in deciding(path, shipped, again):
        key = series.family, series.score
        pairs = zip(largest[key], gap(series), strict=True)
        split, mean = (max(pair) for pair in pairs)
        largest[key] = split, mean
    for (kind, score), (split, mean) in largest.items():
        yield Gap(path, cpu, kind, score, *(float(f"{x:.3g}") for x in (split, mean)))


def bounds_of(measured: Iterable[Gap]) -> list[Bound]:
    """Return the bounds that repeats give: `MARGIN` times the largest gap, or the least."""
    together: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for repeat in measured:
        together[repeat.family, repeat.score].append(repeat)
    order = [(kind, score) for kind in Family for score in (*SCORES, OTHER)]
    return [_bound(*key, together[key]) for key in order if key in together]


def least_bound(kind: str, score: str) -> Bound:
    """Return the bound of a score of which no repeat was measured."""
    return _bound(kind, score, [])


def _bound(kind: str, score: str, repeats: list[Gap]) -> Bound:
    by_deviation = kind in BY_DEVIATION
    least = (LEAST_SPLIT, LEAST_MEAN) if by_deviation else (LEAST, LEAST)
    least = (LEAST_TIE, LEAST_TIE) if kind == Family.TIES else least
    numbers: list[float] = []
    gaps = [repeat.split for repeat in repeats], [repeat.mean for repeat in repeats]
    for values, smallest in zip(gaps, least, strict=True):
        largest = max(values, default=0.0)
        nine = float(np.quantile(values, 0.9, method="higher")) if values else 0.0
        numbers += [nine, largest, max(smallest, float(f"{MARGIN * largest:.2g}"))]
    unit = "deviation over the splits" if by_deviation else "score"
    return Bound(kind, score, unit, len(repeats), *numbers)


def read_bounds(path: str | os.PathLike[str]) -> Bounds:
    """Read the bounds, by family and score.

    Raises
    ------
    DataError
        The file is missing or another one.
    """
    try:
        lines = list(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8")), strict=True))
        if tuple(lines[0]) != Bound._fields:
            raise ValueError("other columns")
        rows = [
            Bound(kind, score, unit, int(n), *(float(x) for x in numbers))
            for kind, score, unit, n, *numbers in lines[1:]
        ]
    except (OSError, ValueError, IndexError, TypeError, csv.Error) as error:
        raise DataError(f"{path}: no bounds of repeats ({error}); get the file again") from None
    return {(row.family, row.score): row for row in rows}


def main() -> None:
    """Write the gaps of repeats, and the bounds that they give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", help="the folder of the shipped records")
    parser.add_argument("target", help="the folder that gets both tables")
    parser.add_argument("repeats", nargs="+", metavar="CPU=RESULTS")
    asked = parser.parse_args()
    folders = {name: Path(folder) for name, _, folder in (x.partition("=") for x in asked.repeats)}
    shipped = read(asked.archive)
    measured = [*measure(shipped, folders), *earlier(Path(asked.target), shipped)]
    for name, rows in ((REPEATS, measured), (BOUNDS, bounds_of(measured))):
        write_csv(Path(asked.target) / name, type(rows[0])._fields, rows)


if __name__ == "__main__":
    main()
