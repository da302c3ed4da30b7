"""What would take all memory is refused before it is read, by the command itself."""

import gzip
import json
import resource
import subprocess
import sys

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deepcac import command
from deepcac.errors import DataError
from deepcac.table import limits
from deepcac.table.columns.description import Dialect
from deepcac.table.reading.table_files import raw_blocks

MEMORY = 4 << 30  # of address space: a third of it is libraries


def profile(path, memory=MEMORY):
    """Return exit code and last line of `deepcac profile`, which may take so much memory."""
    done = subprocess.run(
        [sys.executable, "-c", "from deepcac.command import main; main()",
         "profile", path.name, "--label", "died"],
        cwd=path.parent, capture_output=True, text=True, timeout=300, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
    )  # fmt: skip
    lines = done.stderr.strip().splitlines()
    assert "Traceback" not in done.stderr
    return done.returncode, lines[-1] if lines else ""


def blocks(path):
    return list(raw_blocks(path, Dialect()))


def sheet(path, far=None):
    book = openpyxl.Workbook()
    book.active.append(["age", "crp", "died"])
    for row in range(60):
        book.active.append([40 + row % 7, row % 11 + 0.5, row % 2])
    if far:
        book.active[far] = "x"
    book.save(path)
    return path


def test_a_stray_cell_at_the_far_corner_is_named(tmp_path):
    path = sheet(tmp_path / "t.xlsx", "XFD1048576")
    assert path.stat().st_size < 10_000
    code, line = profile(path)
    assert code == 2
    assert "t.xlsx: sheet 'Sheet' reaches to cell XFD1048576" in line
    assert "delete" in line


def test_a_stray_cell_far_below_is_a_row(tmp_path):
    (block,) = blocks(sheet(tmp_path / "t.xlsx", "A9000"))
    assert block.num_rows == 61


def wide_json(path):
    path.write_text(json.dumps([{f"a{number}": 1} for number in range(6000)]))


def wide_text(path):
    path.write_text(",".join(f"a{number}" for number in range(limits.MOST_COLUMNS + 1)) + "\n1")


def endless_line(path):
    path.write_bytes(b"a" * (1 << 24))


def wide_parquet(path):
    names = [f"a{number}" for number in range(limits.MOST_COLUMNS + 1)]
    pq.write_table(pa.table({name: [1] for name in names}), path)


@pytest.mark.parametrize(
    ("name", "write", "word"),
    [
        ("t.json", wide_json, "6,000 rows x 6,000 columns"),
        ("t.csv", wide_text, "30,001 columns"),
        ("t.csv", endless_line, "line 1 has"),
        ("t.parquet", wide_parquet, "30,001 columns"),
    ],
)
def test_what_spans_too_much_is_refused(name, write, word, tmp_path):
    write(tmp_path / name)
    with pytest.raises(DataError, match=word) as caught:
        blocks(tmp_path / name)
    assert name in str(caught.value)


def test_bytes_are_counted_before_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 1 << 20)
    text = b"age,died\n" + b"1,0\n" * (1 << 19)
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(text)
    pq.write_table(pa.table({"age": range(1 << 19)}), tmp_path / "t.parquet")
    wide = sheet(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="more than"):
        blocks(tmp_path / "t.csv.gz")
    with pytest.raises(DataError, match="row groups"):
        blocks(tmp_path / "t.parquet")
    assert blocks(wide)
    monkeypatch.setattr(limits, "MOST_BYTES", 1 << 10)
    with pytest.raises(DataError, match="save the sheet as CSV"):
        blocks(wide)


def test_too_little_memory_ends_in_one_line(tmp_path, monkeypatch, capsys):
    def called(app):
        raise MemoryError

    monkeypatch.setattr(command, "_called", called)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert "memory" in capsys.readouterr().err
