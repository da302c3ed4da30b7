"""Whether two states of the code give the same results: digests of everything that a run wrote.

Before a change: ``python benchmarks/same_results.py . > before.csv``; after it, in a folder where
the same targets were built: ``python benchmarks/same_results.py . --against before.csv``. Timings
and versions (the `machine` block of a record) do not count, the report's pages are not looked at.

Whether a finished run says what the shipped records say, as the spot check compares them:
``python benchmarks/same_results.py . --shipped docs/results/records > repeats.csv``.
"""

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deepcac_study.records.record_archive import manifest, read, total_seconds
from deepcac_study.records.spot_check import compare_records, text_of
from deepcac_study.records.tolerances import TOLERANCES, read_tolerances

VOLATILE = ("machine", "digest", "seconds")
PARTS = ("data/features", "data/splits", "data/clusterings", "data/pretrained", "results")


def digests(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each result file of a workflow folder, by its path, with a digest of what it says."""
    for part in PARTS:
        for path in sorted((folder / part).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and path.suffix != ".dvc" and not name.startswith("results/report"):
                yield name, _digest(path)


def _digest(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".json":
        content = json.dumps(_lasting(json.loads(content)), sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def _lasting(content: Any) -> Any:
    """Return a record without what differs from run to run, at any depth."""
    if isinstance(content, dict):
        return {name: _lasting(value) for name, value in content.items() if name not in VOLATILE}
    return list(map(_lasting, content)) if isinstance(content, list) else content


def repeated(folder: Path, archive: Path) -> Iterator[list[object]]:
    """Yield a header, then a row for each shipped record that the folder has made again."""
    yield ["record", "verdict", "difference", "score", "shipped", "again", "seconds", "commit"]
    shipped, tolerances = read(archive), read_tolerances(archive.parent / TOLERANCES)
    for row in manifest(archive):
        made = folder / "results" / row.path
        if made.exists() and made.read_bytes() != shipped[row.path]:
            again = json.loads(made.read_bytes())
            found = compare_records(row.path, json.loads(shipped[row.path]), again, tolerances)
            numbers = [text_of(value) for value in (found.size, found.shipped, found.again)]
            seconds = total_seconds(again["machine"].get("seconds") or {})
            place = [found.path, found.verdict, numbers[0], found.where]
            yield [*place, *numbers[1:], f"{seconds:.1f}", row.commit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="digests written by an earlier call")
    parser.add_argument("--shipped", type=Path, help="folder of shipped records")
    given = parser.parse_args()
    if given.shipped:
        csv.writer(sys.stdout, lineterminator="\n").writerows(repeated(given.folder, given.shipped))
        return
    found = dict(digests(given.folder))
    if given.against is None:
        csv.writer(sys.stdout).writerows(found.items())
        return
    with given.against.open(newline="") as file:
        known = dict(csv.reader(file))
    common = known.keys() & found.keys()
    differ = sorted(name for name in common if known[name] != found[name])
    print(f"{len(common) - len(differ)} of {len(common)} files are the same")
    for what, names in (("differs", differ), ("is new", found.keys() - known.keys())):
        for name in sorted(names):
            print(f"{what}: {name}")
    for name in sorted(known.keys() - found.keys()):
        print(f"is missing: {name}")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
