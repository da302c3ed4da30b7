"""Whether two states of the code give the same results: digests of everything that a run wrote.

Before a change: ``python benchmarks/same_results.py . > before.csv``; after it, in a folder where
the same targets were built: ``python benchmarks/same_results.py . --against before.csv``. Timings
and versions (the `machine` block of a record) do not count, the report's pages are not looked at.
"""

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

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
        record = json.loads(content)
        for volatile in ("machine", "digest"):
            record.pop(volatile, None)
        content = json.dumps(record, sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="digests written by an earlier call")
    given = parser.parse_args()
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
