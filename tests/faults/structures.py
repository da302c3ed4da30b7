"""Seeded mutants that are well formed: values of records and archives, digests made anew.

A mutant counts as the same where it is read and says what its place, its inputs and its schema
allow, and as refused where it gets one clear line. Everything else is a mistake of ours.
"""

import copy
import io
import json
import random
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from children import counted, trials, tried
from parsers import CORPUS, mutant
from project import Row

from deepcac.errors import DataError
from deepcac.files.storage import content_digest, read_json
from deepcac.judging.trial_record import PARTS
from deepcac.judging.trial_scores import METRICS
from deepcac_study.judge.trial_files import read_trials
from deepcac_study.raw.archive import members
from deepcac_study.records.record import file_digest, scores_path
from deepcac_study.records.record_archive import MANIFEST, compressed, pack, read
from deepcac_study.records.runs import load

VALUES = (
    *(None, True, 0, -1, 1, 2, 3, 10**30, 0.5, -0.5, 1e308, "", "svm", "lr", "cic", "sound", "L1"),
    *("as_published", "diverged", "..", "/etc/x", "../x", "a/../../x", "0" * 64, "f" * 32, [], {}),
    *(["L1"], [None], {"x": 1}, [[1]], "md5", "a\nb", "{dataset}", "{0}", "x" * 300),
)
NAMES = (
    *(
        "a/1.txt",
        "../x",
        "/etc/x",
        "a/../x",
        "./a/1.txt",
        "a",
        "",
        "C:\\x",
        "a\\..\\x",
        "..",
        "x\0y",
    ),
    *("é/ü.txt", "a//b", "a/./b", "\n", "con", "-x", "~/x", "x/"),
)
SAID = ("dataset", "method", "k", "protocol", "switches", "inputs", "scores")


def structures(work: Path, numbers: range) -> Iterator[Row]:
    """Give every reader well-formed mutants; one row a reader."""
    kinds = (
        ("run records", "`record.json` at its path", _records(work)),
        ("records of trials", "a record of the judge at its path", _trials(work)),
        ("archives", "a zip and a tar.gz", _archives(work)),
        ("records that ship", "three records with their manifest", _shipped(work)),
    )
    return (_row(*kind, numbers) for kind in kinds)


def _row(name: str, seed: str, consistent: Callable[[random.Random], bool], numbers: range) -> Row:
    """Try mutants: `consistent` tells whether what was read contradicts nothing, or raises."""

    def trial(i: int) -> tuple[str, str]:
        fits = partial(consistent, random.Random(i))
        return tried(fits, f"{name}: mutant {i}", one_line=True), str(i)

    how = f"well-formed mutants of {seed}, digests made anew; the first figure counts what fits"
    return counted(f"values: {name}", trials(lambda: trial, numbers), how)


def changed(value: Any, draw: random.Random, values: Sequence[Any] = VALUES, most: int = 3) -> Any:
    """Return a copy of nested dicts and lists with up to `most` places changed, some to `values`."""
    whole = copy.deepcopy(value)
    for _ in range(draw.randint(1, most)):
        parent, key = draw.choice(list(_places(whole)) or [({"x": None}, "x")])
        match draw.randrange(6):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, dict):
                parent[draw.choice([*map(str, parent), "wdir", "x"])] = parent.pop(key)
            case 2 if isinstance(parent[key], int | float):
                parent[key] = parent[key] * draw.choice((-1, 2, 0.5)) + draw.choice((0, 1, -1))
            case 3 if isinstance(parent, list):
                parent.insert(0, copy.deepcopy(parent[key]))
            case 4:
                other, name = draw.choice([*_places(whole), (values, 0)])
                parent[key] = copy.deepcopy(other[name])
            case _:
                parent[key] = copy.deepcopy(draw.choice(values))
    return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def _put(path: Path, value: dict[str, Any]) -> None:
    """Write a record as the project does, but for the wait until it is on the disk."""
    path.write_text(json.dumps(_signed(value)))


def _records(work: Path) -> Callable[[random.Random], bool]:
    path = work / "results" / "cic" / "lr_k1.json"
    inputs = {name: str(work / f"{name}.parquet") for name in ("features", "splits")}
    for file in inputs.values():
        Path(file).write_text(file)
    scores_path(path).parent.mkdir(parents=True)
    scores_path(path).write_text("scores")
    whole = read_json(CORPUS / "record.json") | {
        "dataset": "cic",
        "scores": file_digest(scores_path(path)),
    }
    whole["inputs"] = {name: file_digest(file) for name, file in inputs.items()}

    def trial(draw: random.Random) -> bool:
        mutant = changed(whole, draw)
        _put(path, mutant)
        (run,) = load([path], work, {str(path): inputs})
        assert run.splits
        shown = [run.score(metric) for metric in run.metrics], run.synthetic, run.status
        told = {name: mutant.get(name) for name in SAID[:-1]} == {n: whole[n] for n in SAID[:-1]}
        sums = all(
            abs(own["mean"] - sum(split["metrics"][name] for split in run.splits) / len(run.splits))
            < 1e-9 * max(1.0, abs(own["mean"]))
            for name, own in run.record["summary"].items()
        )
        return told and sums and len(shown) == 3 and _scores_hold(run, mutant)

    return trial


def _scores_hold(run: Any, mutant: dict[str, Any]) -> bool:
    """Tell whether scores of another digest than the record's are refused, and only those."""
    right = mutant.get("scores") == file_digest(run.scores_file)
    try:
        run.scores(["row_id"])
    except DataError as error:  # the right ones are no parquet here
        return ("not a readable parquet" if right else "not the scores") in str(error)
    return False


def _trials(work: Path) -> Callable[[random.Random], bool]:
    path = work / "results" / "judge" / "cic" / "lr.json"
    path.parent.mkdir(parents=True)
    path.with_suffix(".parquet").write_text("answers")
    whole = {
        "dataset": "cic", "contender": "lr", "arm": "", "learner": "lr", "synthetic": False,
        "n_rows": 9, "trials": [{"C": 1.0}], "answers": file_digest(path.with_suffix(".parquet")),
        "inputs": {"features": "0" * 64},
        "resamples": [{
            "seed": 0, "n_train": 5, "n_validation": 2, "n_test": 2,
            "trials": [{"seconds": 0.5, **dict.fromkeys(PARTS, dict.fromkeys(METRICS, 0.5))}],
        }],
    }  # fmt: skip

    def trial(draw: random.Random) -> bool:
        mutant = changed(whole, draw)
        _put(path, mutant)
        found = read_trials(path)
        kept = {"contender": found.contender, **found.about}
        return all(kept[name] == whole[name] for name in ("contender", "dataset", "answers"))

    return trial


def _archives(work: Path) -> Callable[[random.Random], bool]:
    path = work / "archive"

    def trial(draw: random.Random) -> bool:
        files = [(draw.choice(NAMES), draw.randbytes(draw.randrange(9))) for _ in range(3)]
        kinds = [
            draw.choice((stat.S_IFREG, stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO)) for _ in files
        ]
        path.write_bytes(draw.choice((_zip, _tar))(files, kinds))
        found = list(members(path))
        put = {
            content for (_, content), kind in zip(files, kinds, strict=True) if kind == stat.S_IFREG
        }
        names = [name for name, _ in found]
        inside = all(
            not n.startswith("/") and ".." not in n.replace("\\", "/").split("/") for n in names
        )
        return inside and len(names) == len(set(names)) and {c for _, c in found} <= put | {b""}

    return trial


def _shipped(work: Path) -> Callable[[random.Random], bool]:
    """Return the trial of bytes, records and manifest rows that were changed, exchanged or cut."""
    folder, value = work / "shipped", read_json(CORPUS / "record.json")
    paths = [f"cic/lr_k{k}.json" for k in (1, 2, 3)]
    told = {path: json.dumps(_signed(value | {"k": k})) for k, path in enumerate(paths, start=1)}
    pack({path: text.encode() for path, text in told.items()}, folder, lambda *_: True)
    right, whole = read(folder), {path: path.read_bytes() for path in sorted(folder.iterdir())}
    papers, rows = folder / "papers.tar.xz", folder / MANIFEST

    def trial(draw: random.Random) -> bool:
        for path, data in whole.items():
            path.write_bytes(data)
        match draw.randrange(4):
            case 0:
                path = draw.choice(list(whole))
                path.write_bytes(mutant(whole[path], draw))
            case 1:
                edited = _signed(changed(json.loads(told[paths[0]]), draw))
                others = {path: right[path] for path in paths[1:]}
                papers.write_bytes(compressed({paths[0]: json.dumps(edited).encode(), **others}))
            case 2:
                names = draw.sample([*paths, *NAMES], 3)
                papers.write_bytes(compressed(dict(zip(names, right.values(), strict=True))))
            case _:
                lines = [line.split(",") for line in rows.read_text().splitlines()]
                line = draw.choice(lines)
                line[draw.randrange(len(line))] = str(draw.choice(VALUES))
                rows.write_text("\n".join(map(",".join, lines)) + "\n")
        return read(folder) == right

    return trial


def _signed(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"digest": content_digest(value)}


def _zip(files: list[tuple[str, bytes]], kinds: list[int]) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(buffer, "w") as archive:
        for (name, content), kind in zip(files, kinds, strict=True):
            info = zipfile.ZipInfo("x")
            info.filename = name
            info.external_attr = (kind | 0o644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def _tar(files: list[tuple[str, bytes]], kinds: list[int]) -> bytes:
    types = {
        stat.S_IFREG: tarfile.REGTYPE,
        stat.S_IFLNK: tarfile.SYMTYPE,
        stat.S_IFIFO: tarfile.FIFOTYPE,
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for (name, content), kind in zip(files, kinds, strict=True):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = types[kind], "/etc/passwd"
            info.size = len(content) if kind == stat.S_IFREG else 0
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
