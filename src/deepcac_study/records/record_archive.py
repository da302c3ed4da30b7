"""Finished records in a few small files that travel with the code.

An archive is a folder: ``papers.tar.xz`` and ``judge.tar.xz`` with every JSON record, and
``manifest.csv`` with one row per record. The same records give the same bytes. Two archives are
merged as a union in which the newer record of a path wins.

python -m deepcac_study.records.record_archive pack results docs/results/records
python -m deepcac_study.records.record_archive lay docs/results/records results
"""

import argparse
import csv
import hashlib
import io
import json
import lzma
import os
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from deepcac.errors import DataError, one_line_errors
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import write_csv
from deepcac.files.storage import digests_hold, read_json
from deepcac_study.catalogue.record_kinds import GENERATED_PLACES
from deepcac_study.catalogue.registry import Registry, load_registry
from deepcac_study.catalogue.run_paths import runs_among
from deepcac_study.records.commits import check_commits
from deepcac_study.records.record import scores_path

MANIFEST = "manifest.csv"
PARTS = ("papers", "judge")
# When a laid record was made, to Snakemake: before all code, so that it is made again unless it
# stands for its run.
LAID = 1
# Bounds of what a reader takes: the whole study is 20 MB of text in 2,000 records.
_MOST_BYTES, _MOST_MEMORY = 1 << 28, 1 << 27
# Text of numbers: the next byte hangs on the one before, and not on its place.
_DENSE = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
_PLACE = re.compile(r"(?:[A-Za-z0-9_+-][A-Za-z0-9_+.-]*/)*[A-Za-z0-9_+-][A-Za-z0-9_+.-]*\.json")


class ManifestRow(NamedTuple):
    """A record of an archive, in its manifest."""

    path: str  # relative to ``results``
    sha256: str  # of its bytes
    digest: str  # of what a repeated run must give again
    # How it was made; empty where the record does not have it.
    commit: str
    processor: str
    device: str
    seconds: float  # its part of what the job took


def part_of(path: str) -> str:
    """Return the part of an archive that the record at `path` belongs to."""
    return "judge" if path.startswith("judge/") else "papers"


def find_records(results: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the bytes of every record below a folder ``results``, by path relative to it.

    A record has a block ``machine``; JSON files that report and study derive from records do not.

    Raises
    ------
    DataError
        A JSON file is damaged.
    """
    root = Path(results)
    paths = (path for path in sorted(root.rglob("*.json")) if "report" not in path.parts)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if "machine" in read_json(path)
    }


def pack(
    records: Mapping[str, bytes],
    folder: str | os.PathLike[str],
    may_leave: Callable[[str, Mapping[str, Any]], bool],
) -> list[ManifestRow]:
    """Write records of `find_records` as an archive, and return its manifest.

    Records of an archive that exists already are kept, unless a new one has the same path. Records
    that `may_leave` rejects, by path and content, are left out.

    Raises
    ------
    DataError
        A record, or the existing archive, is damaged.
    """
    place = Path(folder)
    older = read(place) if (place / MANIFEST).exists() else {}
    whole = dict(sorted({**older, **records}.items()))
    contents = {path: _content(path, data) for path, data in whole.items()}
    chosen = [path for path in whole if may_leave(path, contents[path])]
    rows = _rows({path: whole[path] for path in chosen}, contents)
    for part in PARTS:
        with atomic_path(place / f"{part}.tar.xz") as unnamed:
            members = {path: whole[path] for path in chosen if part_of(path) == part}
            unnamed.write_bytes(compressed(members))
    write_csv(place / MANIFEST, ManifestRow._fields, rows)
    return rows


def read(folder: str | os.PathLike[str]) -> dict[str, bytes]:
    """Read the records of an archive, by path, and check each against the manifest.

    Raises
    ------
    DataError
        The archive and its manifest disagree, or a file in it is damaged, too large or not a
        record.
    """
    place = Path(folder)
    listed = {row.path: row for row in manifest(place)}
    members: dict[str, bytes] = {}
    for part in PARTS:
        for path, data in _members(place / f"{part}.tar.xz"):
            if path not in listed or path in members or part_of(path) != part:
                raise DataError(f"{place / part}.tar.xz: {path!r} is not in {MANIFEST}; {_REMEDY}")
            members[path] = data
    contents = {path: _content(path, data) for path, data in members.items()}
    for row in _rows(members, contents):
        # Until November 2026 a manifest counted what several records share in each of them.
        older = row._replace(seconds=round(_sum(_stages(contents[row.path]["machine"])), 1))
        if listed[row.path] not in (row, older):
            raise DataError(
                f"{place / part_of(row.path)}.tar.xz: {row.path!r} is not as in {MANIFEST}; "
                f"{_REMEDY}"
            )
    if missing := sorted(set(listed) - set(members)):
        raise DataError(f"{place}: {missing[0]} is in {MANIFEST} alone; {_REMEDY}")
    return members


_MOST_NAMED = 10
_REMEDY = "get the archive again, or pack it from the records"


def manifest(folder: str | os.PathLike[str]) -> list[ManifestRow]:
    """Read the manifest of an archive.

    Raises
    ------
    DataError
        It is missing, has other columns, or is empty.
    """
    path = Path(folder) / MANIFEST
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
        if tuple(lines[0]) != ManifestRow._fields:
            raise ValueError("other columns")
        rows = [
            ManifestRow(place, sha256, digest, commit, processor, device, float(seconds))
            for place, sha256, digest, commit, processor, device, seconds in lines[1:]
        ]
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise DataError(f"{path}: not a manifest of records ({error}); {_REMEDY}") from None
    for row in rows:
        if not _PLACE.fullmatch(row.path):
            raise DataError(f"{path}: {row.path!r} is no place of a record; {_REMEDY}")
    return rows


class Laid(NamedTuple):
    """Counts of written and existing records, and paths of existing ones that differ."""

    written: int
    there: int
    other: list[str]  # paths of existing records that differ from the shipped ones


def lay(
    folder: str | os.PathLike[str], results: str | os.PathLike[str], *, replace: bool = False
) -> Laid:
    """Write the records of an archive to a folder ``results``, with its ``README.md``.

    Existing files are kept, except runs that an earlier release shipped. With `replace`, all files
    that differ from the shipped ones are overwritten. The modification time of written files, and
    of runs that are equal in both releases, is set to `LAID`.
    """
    written, other = 0, []
    records = read(folder)
    for path, data in records.items():
        target = Path(results) / path
        if target.exists():
            if target.read_bytes() == data:
                if _without_scores(target, path):
                    os.utime(target, (LAID, LAID))
                continue
            if not (replace or _shipped_before(target, path)):
                other.append(path)
                continue
        with atomic_path(target) as unnamed:
            unnamed.write_bytes(data)
            os.utime(unnamed, (LAID, LAID))
        written += 1
    return Laid(written, len(records) - written, other)


def _without_scores(target: Path, path: str) -> bool:
    """Return whether a record is a run without score file; runs that were made here have one.

    For other records nothing shows where they were made.
    """
    return any(runs_among([f"results/{path}"])) and not scores_path(target).exists()


def _shipped_before(target: Path, path: str) -> bool:
    """Return whether a record is an undamaged run that was not made here."""
    try:
        return _without_scores(target, path) and bool(read_json(target))
    except DataError:
        return False


def _summary(laid: Laid) -> str:
    """Return a message on what was written, with the names of files that were kept."""
    summary = f"{laid.written} records written, {laid.there} were there"
    if not laid.other:
        return summary
    more = len(laid.other) - _MOST_NAMED
    names = ", ".join(laid.other[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return (
        f"{summary}; {len(laid.other)} of these are not as they shipped and were left: {names}. "
        "To have the shipped ones, delete them and call this again"
    )


def main() -> None:
    """Pack the records of a folder into an archive, or write those of an archive to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("pack", "lay"))
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--registry", default="config/registry", help="says what is restricted")
    asked = parser.parse_args()
    if asked.what == "pack":
        registry = load_registry(asked.registry, private=False)
        records = find_records(asked.source)
        check_commits(
            {
                path: str(_content(path, data)["machine"].get("git_commit") or "")
                for path, data in records.items()
            }
        )
        rows = pack(records, asked.target, partial(may_leave, registry))
        print(f"{len(rows)} records in {asked.target}")
    else:
        check_commits({row.path: row.commit for row in manifest(asked.source)})
        print(_summary(lay(asked.source, asked.target)))


def may_leave(registry: Registry, path: str, content: Mapping[str, Any]) -> bool:
    """Return whether a record may be published; unknown data sets may not.

    Records of open data may, and those of planted cohorts; generated data of the demo are left
    out, because they are made in minutes. A record at the path of a restricted data set may not,
    whatever its content.
    """
    if path.startswith(GENERATED_PLACES):
        return content.get("synthetic") is True and "dataset" not in content
    sources = {name: source for source in registry.sources.values() for name in source.datasets}
    named = [sources[part] for part in Path(path).with_suffix("").parts if part in sources]
    source = sources.get(str(content.get("dataset")))
    if source is None or any(origin.closed for origin in (source, *named)):
        return False
    return not content.get("synthetic")


def _content(path: str, data: bytes) -> dict[str, Any]:
    """Parse a record and check its digests; anything else is a `DataError`."""
    try:
        value = json.loads(data)
        if not digests_hold(value) or not isinstance(value["machine"], dict):
            raise ValueError("its digest does not hold")
        total_seconds(_stages(value["machine"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{path!r}: not a record ({error}); run it again") from None
    return value


def _rows(
    records: Mapping[str, bytes], contents: Mapping[str, Mapping[str, Any]]
) -> list[ManifestRow]:
    """Return the manifest of records, by path."""
    made = {path: contents[path]["machine"] for path in records}
    seconds = seconds_once(made)
    rows = []
    for path, data in records.items():
        entry = {"path": path, "sha256": hashlib.sha256(data).hexdigest(), **_made(contents[path])}
        digest = contents[path]["digest"]
        rows.append(ManifestRow(**entry, digest=digest, seconds=round(seconds[path], 1)))
    return rows


def _made(content: Mapping[str, Any]) -> dict[str, str]:
    """Return commit, version and the like from a record; empty where it has none."""
    machine = content["machine"]
    names = {"commit": "git_commit", "processor": "processor", "device": "device"}
    return {name: str(machine.get(entry) or "") for name, entry in names.items()}


def seconds_once(made: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the seconds of each record, by path, such that their sum is the total time.

    `made` has the ``machine`` blocks. Stages that records of one job share (the preparation and the
    clusterings of a table's runs, the networks of two contenders of the judge) are in each of their
    blocks; here each record gets an equal part.
    """
    jobs: Counter[tuple[Any, ...]] = Counter()
    for path, machine in made.items():
        jobs.update((_job(path, machine), *stage) for stage in _common(machine))
    return {
        path: total_seconds(_stages(machine))
        - sum(
            seconds * (1 - 1 / jobs[_job(path, machine), name, seconds])
            for name, seconds in _common(machine)
        )
        for path, machine in made.items()
    }


def total_seconds(stages: Mapping[str, float]) -> float:
    """Return the seconds of all stages: the ``total`` where there is one, else their sum.

    A name with a dot is a part of the stage before the dot, and not added.
    """
    return float(stages["total"]) if "total" in stages else _sum(stages)


def _sum(stages: Mapping[str, float]) -> float:
    """Return the seconds of all stages; "a.b" is part of "a" and not added."""
    return sum(float(seconds) for name, seconds in stages.items() if "." not in name)


def _common(machine: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the stages that records of one job may share; they do if equal to the millisecond."""
    stages = _stages(machine)
    return [
        (name, float(stages[name])) for name in ("prepare", "shared", "total") if name in stages
    ]


def _stages(machine: Mapping[str, Any]) -> dict[str, float]:
    seconds = machine.get("seconds")
    return seconds if isinstance(seconds, dict) else {}


def _job(path: str, machine: Mapping[str, Any]) -> tuple[str, str]:
    """Return folder and commit, which the records of one job have in common."""
    return path.rpartition("/")[0], str(machine.get("git_commit"))


def compressed(records: Mapping[str, bytes]) -> bytes:
    """Return a compressed tar whose bytes depend on the records alone."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in records.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    return lzma.compress(plain.getvalue(), check=lzma.CHECK_SHA256, filters=_DENSE)


def _members(path: Path) -> list[tuple[str, bytes]]:
    """Read the files of a compressed tar in memory."""
    try:
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
        plain = reader.decompress(path.read_bytes(), max_length=_MOST_BYTES)
        if not reader.eof or reader.unused_data:
            raise ValueError(f"cut, with something behind it, or above {_MOST_BYTES >> 20} MB")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            files = [member for member in tar if member.isreg()]
            return [(member.name, tar.extractfile(member).read()) for member in files]  # type: ignore[union-attr]
    except (OSError, EOFError, ValueError, lzma.LZMAError, tarfile.TarError) as error:
        raise DataError(f"{path}: not a readable archive ({error}); {_REMEDY}") from None


if __name__ == "__main__":
    with one_line_errors():
        main()
