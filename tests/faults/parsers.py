"""Seeded mutants of small hand-written files: a value or an error of the project, nothing else."""

import hashlib
import io
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from children import counted, trials, tried
from project import Row

from deepcac.files.storage import read_json, read_table, write_table
from deepcac_study.catalogue.variables import Variable
from deepcac_study.raw.archive import members
from deepcac_study.raw.delimited import read_delimited
from deepcac_study.raw.hypertext import read_page
from deepcac_study.records.record import read_record
from deepcac_study.sources.physionet2012 import read_outcomes
from deepcac_study.sources.physionet2012_events import parse_set
from deepcac_study.sources.physionet2019 import read_archives
from deepcac_study.sources.weka_uci import read_arff

CORPUS = Path(__file__).parent / "corpus"
TOKENS = (
    *(b"?", b"nan", b"NaN", b"inf", b"-1", b"1e999", b"1_000", b"3?", b"0x10", b'"', b"'", b"\\"),
    *(b",", b"|", b":", b"{", b"}", b"[", b"\n", b"\r\n", b"\0", b"\xff\xfe", "é".encode(), b"%"),
    *(b"@data", b"RecordID", b"../", b"[" * 2000, b"9" * 400, b"&#x110000;", b"<![", b"!!python"),
)
VARIABLES = (
    Variable("id", "id"),
    Variable("age", "number", low=0, high=120),
    Variable("sex", "category", levels=("m", "f")),
)
Parser = Callable[[Path], object]


def _events(path: Path) -> object:
    return parse_set(path, [("set-a/1.txt", path.read_bytes())])


def _psv(path: Path) -> object:
    packed = path.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("p000001.psv", path.read_bytes())
    return read_archives({"A": packed})


def _html(path: Path) -> object:
    return read_page(path.read_bytes(), "http://www.example.org/a/")


PARSERS: dict[str, tuple[str, Parser]] = {
    "ARFF (WEKA)": ("small.arff", read_arff),
    "events (PhysioNet 2012)": ("events.txt", _events),
    "outcomes (PhysioNet 2012)": ("outcomes.txt", lambda path: read_outcomes(path, "a")),
    "hourly records (PhysioNet 2019)": ("hourly.psv", _psv),
    "comma-separated tables": (
        "table.csv",
        lambda path: read_delimited(path, VARIABLES, header=True, missing=("", "?")),
    ),
    "web pages": ("page.html", _html),
    "JSON": ("record.json", read_json),
    "run records": ("record.json", read_record),
    "zip archives": ("zip", lambda path: list(members(path))),
    "tar.gz archives": ("tar.gz", lambda path: list(members(path))),
    "tar.xz archives": ("tar.xz", lambda path: list(members(path))),
    "parquet files": ("parquet", read_table),
}


def fuzz(work: Path, numbers: range) -> Iterator[Row]:
    """Give every parser mutants; one row a parser."""
    return (_row(work, name, *PARSERS[name], numbers) for name in PARSERS)


def _row(work: Path, name: str, seed: str, parse: Parser, numbers: range) -> Row:
    path = work / f"input.{seed.rpartition('.')[2]}"
    start = _packed(work, seed) if not (CORPUS / seed).exists() else (CORPUS / seed).read_bytes()

    def read() -> bool:
        parse(path)
        return True

    def trial(i: int) -> tuple[str, str]:
        content = mutant(start, random.Random(i))
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()[:16]
        return tried(read, f"{name}: mutant {i}", one_line=True), digest

    how = f"mutants of `{seed}`; the first figure counts inputs that are still valid"
    return counted(f"parser: {name}", trials(lambda: trial, numbers), how)


def mutant(start: bytes, draw: random.Random) -> bytes:
    """Change one to four places: flip a bit, drop, double or swap a part, put in a token."""
    content = bytearray(start)
    for _ in range(draw.randint(1, 4)):
        i = draw.randrange(len(content) + 1)
        j = min(len(content), i + draw.choice((1, 1, 2, 8, 64)))
        match draw.randrange(5):
            case 0 if i < len(content):
                content[i] ^= 1 << draw.randrange(8)
            case 1:
                del content[i:j]
            case 2:
                content[i:i] = content[i:j]
            case 3:
                content[i:j] = draw.choice(TOKENS)
            case _:
                content[i:i] = draw.choice(TOKENS)
    return bytes(content)


def _packed(work: Path, kind: str) -> bytes:
    """Return a small file of a binary kind; made here, so that the corpus stays readable."""
    files = {"a/1.txt": b"one\n" * 50, "a/2.txt": bytes(range(256))}
    if kind == "parquet":
        columns = {"x": [0.5, None], "name": ["a", "é"], "rows": [[1], []]}
        write_table(work / "start", pa.table(columns))
        return (work / "start").read_bytes()
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return buffer.getvalue()
    mode = "w:gz" if kind == "tar.gz" else "w:xz"
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
