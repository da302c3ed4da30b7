"""Tables of what `verdicts_before_after.py` found: one line a table, and one a reversed table.

``python benchmarks/verdict_changes.py WORK docs/results`` reads the work folder of the runs.
"""

import argparse
import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Found = dict[str, Any]
NUMBERS = ("score", "reference_score", "mean", "low", "high")
HEAD = (
    *("table", "n", "events", "verdict_before", "verdict_after", "verdict"),
    *("recommended_before", "recommended_after", "recommended", "change_before", "change_after"),
    *("comparisons", "comparisons_changed", "read_otherwise"),
    *("largest_auroc_difference", "aligned_auroc_difference", "reason"),
)
REVERSED = ("table", "numbers", "numbers_changed", "largest_change", "verdict", "recommended")
READING = "what is read otherwise"
RULE = "now the simplest model within one standard error, on the folds of fit; before the best mean"


def read(path: Path) -> dict[str, Found]:
    """Return the lines of a file, by table."""
    found = map(json.loads, path.read_text("utf-8").splitlines()) if path.exists() else ()
    return {line["table"]: line for line in found}


def paired(one: Found, other: Found) -> Iterable[tuple[Found, Found]]:
    """Yield the comparisons that two answers have in common."""
    keys = ("question", "contender", "reference")
    rows = {tuple(row[key] for key in keys): row for row in other["rows"]}
    for row in one["rows"]:
        if (key := tuple(row[name] for name in keys)) in rows:
            yield row, rows[key]


def changes(one: Found, other: Found, names: Iterable[str] = NUMBERS) -> list[float]:
    """Return by how much each number differs, of those that both answers have."""
    both = [(row[name], again[name]) for row, again in paired(one, other) for name in names]
    return [abs(x - y) for x, y in both if x == x and y == y]


def by_clusters(found: Found) -> str:
    """Return the change by clusters of the first screen, with its interval."""
    ours = (found["clustered"], found["best"])
    for row in found["rows"]:
        if (row["contender"], row["reference"]) == ours and row["question"] in ("help", "bent"):
            return f"{row['mean']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
    return ""


def has_levels(found: Found) -> dict[str, bool]:
    """Return the columns that have features, and whether they are those of levels."""
    parts = (name.removesuffix(" (column)").partition("=") for name in found["names"])
    return {column: bool(sign) for column, sign, _ in parts}


def read_otherwise(before: Found, after: Found) -> str:
    """Say which features version 2 makes otherwise of the same file."""
    if before["columns"] == after["columns"]:
        return ""
    was, now = has_levels(before), has_levels(after)
    gone = sorted(was.keys() - now)
    coded = sorted(name for name, levels in now.items() if levels > was.get(name, False))
    said = ["columns in the order of their names"]
    said += [f"left out: {' '.join(gone)}"] if gone else []
    said += [f"codes, not numbers: {' '.join(coded)}"] if coded else []
    return "; ".join(said)


def same(one: Found, other: Found, key: str) -> str:
    """Say whether two answers agree."""
    return "same" if one[key] == other[key] else "changed"


def line(before: Found, after: Found, aligned: Found | None) -> list[Any]:
    """Return the line of a table; `aligned` is what version 1 says of it as version 2 reads it."""
    verdict, best = same(before, after, "verdict"), same(before, after, "best")
    scores = [
        "" if one is None else f"{max(changes(one, after, NUMBERS[:2]), default=0.0):.4f}"
        for one in (before, aligned)
    ]
    both = [two for two in paired(before, after) if two[0]["question"] == "help"]
    asked = [row["verdict"] == again["verdict"] for row, again in both]
    reasons = []
    if aligned is not None and verdict == "changed" and aligned["verdict"] == after["verdict"]:
        reasons.append(f"verdict: {READING}")
    if aligned is not None and best == "changed":
        reasons.append(f"model: {READING if aligned['best'] == after['best'] else RULE}")
    return [
        *(before[name] for name in ("table", "n", "events")),
        *(before["verdict"], after["verdict"], verdict, before["best"], after["best"], best),
        *(by_clusters(before), by_clusters(after), len(asked), asked.count(False)),
        *(read_otherwise(before, after), *scores),
        "; ".join(reasons),
    ]


def reversed_line(after: Found, reverse: Found) -> list[Any]:
    """Return how many numbers change if the columns of a table stand in reversed order."""
    moved = changes(after, reverse)
    counted = sum(change > 0 for change in moved)
    agree = [same(after, reverse, key) for key in ("verdict", "best")]
    return [after["table"], len(moved), counted, f"{max(moved, default=0):.4f}", *agree]


def write(path: Path, head: tuple[str, ...], lines: Iterable[list[Any]]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("work", "results"):
        parser.add_argument(option, type=Path)
    options = parser.parse_args()
    runs = ("before", "after", "aligned", "reversed")
    before, after, aligned, reverse = (read(options.work / f"{name}.jsonl") for name in runs)
    lines = [line(before[name], after[name], aligned.get(name)) for name in after if name in before]
    write(options.results / "verdicts_before_after.csv", HEAD, lines)
    turned = [reversed_line(after[name], reverse[name]) for name in reverse]
    write(options.results / "verdicts_reversed.csv", REVERSED, turned)
