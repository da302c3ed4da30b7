"""Seeded mutants of a user's table: the risks that a plain reading gives, or one clear line.

The plain reading goes sign by sign, knows nothing of arrow, and gives up where a cell is no clear
number. What it gives up on must be refused; what the command reads must have its rows and risks.
"""

import csv
import hashlib
import io
import math
import random
import re
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from children import LEAK, PAGE, TRACEBACK, Trial, counted, trials, tried
from lone_patients import lone_patients
from parsers import mutant
from project import Row

from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.cell_texts import NO_VALUE
from deepcac.table.columns.description import Outcome, Use
from deepcac.table.inference.labelled_table import described_table, read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.risk_tables import fit_table, predict_table, read_model

NUMBERS, TEXTS = ("age", "crp"), ("sex", "ward")
PIECES = (
    *(b'"', b'"', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\\", b" ", b"'"),
    *(b",,", b'""', b'"\n"', b"\xff", b"\xc3", b"\xef\xbb\xbf", "é".encode(), "\u2028".encode()),
    *(b"1e5", b"1e999", b"1_0", b"0x1", b"nan", b"NA", b"inf", b"<", b"%", b"1,250", "٣".encode()),
)
EVERY = 20  # mutants from one page of `profile` to the next
ANY: list[dict[str, Any]] = []  # stands for any rows whose risks are possible
Risks = dict[tuple[int, str], float]


class Kind(NamedTuple):
    """A kind of table file.

    Attributes
    ----------
    ending : str
    written : callable
        Of a frame: the bytes of a sound file.
    change : callable
        Of the bytes and a draw: a mutant.
    plain : callable
        Of the bytes: the rows they hold, None where no plain reading is clear, or `ANY` where a
        mutant may be another possible table.
    how : str
    """

    ending: str
    written: Callable[[pd.DataFrame], bytes]
    change: Callable[[bytes, random.Random], bytes]
    plain: Callable[[bytes], list[dict[str, Any]] | None]
    how: str


def fuzz_tables(work: Path, numbers: range, kinds: Mapping[str, Kind]) -> Iterator[Row]:
    """Give `deepcac predict`, `fit`'s reader and `profile` mutants; one row a kind of file."""
    frame = patients()
    frame.to_csv(work / "start.csv", index=False)
    model = work / "model.json"
    table = described_table(work / "start.csv", Use(outcome=Outcome(field="died"), id="patient"))
    fit_table(table, model, TableRun(len, rows=1000, jobs=1), method="plain")
    return (
        counted(
            f"own table: {name}", trials(partial(_mutants, work, name, kind), numbers), kind.how
        )
        for name, kind in kinds.items()
    )


def patients(n: int = 60) -> pd.DataFrame:
    """Return the table that is mutated."""
    draw = np.random.default_rng(0)
    columns = {
        "patient": [f"p{i:02d}" for i in range(n)],
        "age": draw.integers(20, 90, n),
        "crp": draw.normal(10, 3, n).round(2),
        "sex": draw.choice(["f", "m"], n),
        "ward": draw.choice(["icu", "er", "general, north"], n),
        "died": np.where(draw.random(n) < 0.4, "yes", "no"),
    }
    return pd.DataFrame(columns)


def _mutants(work: Path, name: str, kind: Kind) -> Trial:
    frame, path = patients(), work / f"table.{kind.ending}"
    start, model = kind.written(frame), read_model(work / "model.json")
    secrets = [*frame["patient"], f"{frame['crp'].min():g}", f"{frame['crp'].max():g}"]

    def read() -> bool:
        risks = _risks(work, path)
        rows = kind.plain(path.read_bytes())
        if rows is ANY:
            right = all(0 <= risk <= 1 for risk in risks.values())
        else:
            right = rows is not None and risks == _plain_risks(model, rows)
        table = described_table(path, Use(outcome=Outcome(field="died")), rows=1000)
        return right and read_labelled(table, rows=1000).total == len(risks)

    def trial(i: int) -> tuple[str, ...]:
        content = kind.change(start, random.Random(i))
        path.write_bytes(content)
        told = tried(read, f"{name}: mutant {i}")
        digest = hashlib.sha256(content).hexdigest()[:16]
        return page_tried(path, work, secrets, (told, digest)) if i % EVERY == 0 else (told, digest)

    return trial


def page_tried(
    path: Path, work: Path, secrets: Collection[str], told: tuple[str, str]
) -> tuple[str, ...]:
    """Return the words of a trial with those of the page of `profile`."""
    page = work / "profile.html"
    page.unlink(missing_ok=True)

    def read() -> bool:
        write_profile_page(path, page, TableRun(str, command="profile"), label="died")
        return True

    of_page = tried(read, f"profile of {path.name}")
    leaks = lone_patients(page, secrets) if page.exists() else []
    if leaks:
        print(f"page of {path.name}: {leaks[:5]}", file=sys.stderr, flush=True)
        return LEAK, told[1], PAGE
    return (of_page if of_page == TRACEBACK else told[0]), told[1], PAGE


def _risks(work: Path, path: Path) -> Risks:
    predict_table(work / "model.json", path, work / "risk.csv", say=len, accept=True)
    with (work / "risk.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        (i, line.get("patient") or line.get("row", "")): float(line["risk"])
        for i, line in enumerate(lines)
    }


def _plain_risks(model: Any, rows: list[dict[str, Any]]) -> Risks:
    """Return the risks of rows of numbers and texts."""
    typed = {name: pa.array([r[name] for r in rows], pa.float64()) for name in NUMBERS}
    typed |= {name: pa.array([r[name] for r in rows], pa.string()) for name in TEXTS}
    X = model.encoder.encode(pa.table(typed), np.arange(1, len(rows) + 1))
    risk = model.answers(X)[0][:, 1]
    ids = [row.get("patient", str(i)) or "" for i, row in enumerate(rows, 1)]
    ids = [f"'{one}" if re.match(r"[=+@\t\r-]", one) else one for one in ids]
    return {(i, one): float(f"{risk[i]:.6g}") for i, one in enumerate(ids)}


def plain_text(content: bytes) -> list[dict[str, Any]] | None:
    """Read delimited text line by line; None where a line or a number is not clear."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    delimiter = max(",;\t|", key=re.split(r"[\r\n]", text, maxsplit=1)[0].count)
    names, *lines = _records(text, delimiter)
    names = [name.replace("\ufeff", "").strip() for name in names]  # a mark has no width
    if len(set(names)) < len(names) or not {*NUMBERS, *TEXTS} <= set(names):
        return None
    if any(len(line) != len(names) or _holds_rows(line, delimiter) for line in lines):
        return None
    return _with_numbers([dict(zip(names, map(_bare, line), strict=True)) for line in lines])


def _records(text: str, delimiter: str) -> list[list[str]]:
    """Return the cells of each line that is not empty, sign by sign.

    A quotation mark quotes at the start of a cell alone; elsewhere it is a sign like others. The
    end of the file closes what is open, since a cut leaves the same as a cell that ends there.
    """
    records, cells, cell, place = [], [], "", "start"
    for sign in re.findall(r"\r\n|.", text + "\n", re.DOTALL):
        if place == "quoted":
            place = "closed" if sign == '"' else place
            cell += "" if sign == '"' else sign
        elif sign == '"' and place in ("start", "closed"):
            cell += '"' if place == "closed" else ""
            place = "quoted"
        elif sign == delimiter:
            cells, cell, place = [*cells, cell], "", "start"
        elif sign in ("\n", "\r", "\r\n"):
            records.append([*cells, cell])
            cells, cell, place = [], "", "start"
        else:
            cell, place = cell + sign, "plain"
    if place == "quoted":
        records.append([*cells, cell.removesuffix("\n")])
    return [record for record in records if record != [""]]


def _holds_rows(cells: list[str], delimiter: str) -> bool:
    """Tell whether a cell over several lines has the delimiters of a row."""
    return any(re.search(r"[\r\n]", c) and c.count(delimiter) >= len(cells) - 1 for c in cells)


def _bare(cell: str) -> str | None:
    """Return the composed form without signs of no width, white space as single spaces."""
    composed = unicodedata.normalize("NFC", cell)
    shown = "".join(c for c in composed if unicodedata.category(c) != "Cf")
    bare = " ".join(shown.split())
    return None if bare in NO_VALUE else bare


def _with_numbers(rows: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    for name in NUMBERS:
        for row in rows:
            if row[name] is None:
                continue
            if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", row[name], re.ASCII):
                return None
            row[name] = float(row[name])
            if not math.isfinite(row[name]):
                return None
    return rows


def unchanged(content: bytes) -> list[dict[str, Any]]:
    return patients().to_dict("records")


def _named_as_stored(content: bytes) -> list[dict[str, Any]]:
    """Return the unchanged cells of a parquet file; no checksum covers the names of columns."""
    names = pq.read_schema(io.BytesIO(content)).names
    return patients().set_axis(names, axis=1).to_dict("records")


def as_csv(frame: pd.DataFrame) -> bytes:
    """Return the bytes of a frame as comma-separated text."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def as_sheet(frame: pd.DataFrame) -> bytes:
    """Return the bytes of a frame as a spreadsheet."""
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    return buffer.getvalue()


def _as_parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, buffer, write_page_checksum=True)
    return buffer.getvalue()


def text_mutant(start: bytes, draw: random.Random) -> bytes:
    """Change how the table is written, then put pieces in or take some out."""
    content = _rewritten(start, draw)
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3))):
        i = draw.randrange(len(content) + 1)
        match draw.randrange(6):
            case 0:
                content = content[:i] + content[i + draw.choice((1, 1, 2, 8, 64)) :]
            case 1:
                content = content[: max(i, 60)]
            case 2:
                lines = content.splitlines(keepends=True)
                content = b"".join(draw.sample(lines[1:], len(lines) - 1)) if lines else content
                content = lines[0] + content if lines else content
            case _:
                j = i + draw.choice((0, 0, 1))
                content = content[:i] + draw.choice(PIECES) + content[j:]
    return content


def _rewritten(start: bytes, draw: random.Random) -> bytes:
    """Write the same table another way: separators, quotes, line ends, encodings."""
    rows = list(csv.reader(io.StringIO(start.decode())))
    out = io.StringIO()
    quoting = draw.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    ends = draw.choice(("\n", "\n", "\r\n", "\r"))
    csv.writer(
        out, delimiter=draw.choice(",,,;\t|"), quoting=quoting, lineterminator=ends
    ).writerows(rows)
    text = out.getvalue()
    text = text.rstrip("\r\n") if draw.random() < 0.2 else text
    codec = draw.choice(("utf-8",) * 8 + ("utf-8-sig", "utf-8-sig", "utf-16", "utf-32", "cp500"))
    return text.encode(codec)


def _sheet_mutant(start: bytes, draw: random.Random) -> bytes:
    """Change the bytes of a spreadsheet, or the text of one of its parts."""
    if draw.random() < 0.5:
        return mutant(start, draw)
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(start)) as whole, zipfile.ZipFile(buffer, "w") as other:
        chosen = draw.choice([name for name in whole.namelist() if "sheet1" not in name])
        for name in whole.namelist():
            part = whole.read(name)
            other.writestr(name, mutant(part, draw) if name == chosen else part)
    return buffer.getvalue()


KINDS = {
    "delimited text": Kind(
        "csv",
        as_csv,
        text_mutant,
        plain_text,
        "separators, quotes, encodings, NULs, cuts; the first figure counts risks of a plain reading",
    ),
    "spreadsheets": Kind(
        "xlsx",
        as_sheet,
        _sheet_mutant,
        unchanged,
        "bytes of the file, and of its parts but the sheet",
    ),
    "parquet": Kind(
        "parquet",
        _as_parquet,
        mutant,
        _named_as_stored,
        "bytes of a file whose pages have checksums",
    ),
}
