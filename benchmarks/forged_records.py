"""How many forged records the spot check finds when they are drawn, by family and kind of forgery.

Every shipped run is forged in four ways and held against itself, as if its repeat were exact:
``python benchmarks/forged_records.py > docs/results/forged_records.csv``.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepcac_study.records.record import summarise
from deepcac_study.records.record_archive import read
from deepcac_study.records.spot_check import DIFFERENT, compare_records
from deepcac_study.records.tolerances import TOLERANCES, Family, family, read_tolerances

RESULTS = Path(__file__).parents[1] / "docs" / "results"
Metrics = list[dict[str, Any]]


def one_split(metrics: Metrics) -> None:
    metrics[0]["auroc"] = 0.999


def mean_kept(metrics: Metrics) -> None:
    for split, step in zip(metrics, (0.1, -0.1, 0.1, -0.1), strict=False):
        split["auroc"] += step


def better(metrics: Metrics) -> None:
    for split in metrics:
        split["auroc"] += 0.05


WAYS: dict[str, Callable[[Metrics], None]] = {
    "AUROC of one split set to .999": one_split,
    "AUROC of four splits moved by .1, mean kept": mean_kept,
    "every AUROC .05 higher": better,
    "deviation times .1, other number of rows": lambda metrics: None,
}


def forged(text: bytes, way: str) -> dict[str, Any]:
    """Return a record with one forgery, and a summary that fits it but for the deviation's."""
    content: dict[str, Any] = json.loads(text)
    WAYS[way]([split["metrics"] for split in content["splits"]])
    content["summary"] = summarise(content["splits"])
    if way.startswith("deviation"):
        content["summary"]["auroc"]["sd"] *= 0.1
        content["n_rows"] = 999999
    return content


def main() -> None:
    tolerances = read_tolerances(RESULTS / TOLERANCES)
    tried, found = Counter[Any](), Counter[Any]()
    for path, text in read(RESULTS / "records").items():
        true = json.loads(text)
        scores = [split["metrics"].get("auroc") for split in true.get("splits", [{"metrics": {}}])]
        for way in WAYS if "summary" in true and None not in scores else ():
            if way.startswith("AUROC of four") and len(scores) < 4:
                continue
            key = family(path, true), way
            tried[key] += 1
            found[key] += (
                compare_records(path, forged(text, way), true, tolerances).verdict == DIFFERENT
            )
    rows = [[*key, tried[key], found[key]] for kind in Family for key in tried if key[0] == kind]
    csv.writer(sys.stdout, lineterminator="\n").writerows(
        [["family", "forgery", "records", "found"], *rows]
    )


if __name__ == "__main__":
    main()
