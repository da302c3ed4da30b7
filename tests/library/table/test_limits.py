"""What would take all memory is refused before it is read, by the command itself."""

import gzip
import json
import resource
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from described_tables import inferred

from deepcac import command
from deepcac.errors import DataError
from deepcac.files import limits
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.description import Dialect
from deepcac.table.reading.spreadsheets import _check_open
from deepcac.table.reading.table_files import raw_blocks
from deepcac.table.risk_tables import fit_table

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
    with pytest.raises(DataError, match="as CSV"):
        blocks(wide)


@pytest.mark.parametrize("ending", ["feather", "zsav"])
def test_what_a_packed_table_unpacks_to_is_counted_in_what_says_so(ending, tmp_path, monkeypatch):
    frame = pd.DataFrame({"age": np.zeros(40_000), "died": np.zeros(40_000)})
    path = tmp_path / f"t.{ending}"
    if ending == "feather":
        frame.to_feather(path, compression="zstd")
    else:
        pyreadstat.write_sav(frame, path, compress=True)
    assert path.stat().st_size < 1 << 14
    assert sum(block.num_rows for block in blocks(path)) == 40_000
    monkeypatch.setattr(limits, "MOST_BYTES", 1 << 19)
    with pytest.raises(DataError, match="fewer rows"):
        blocks(path)


def test_texts_of_a_dictionary_are_counted_as_often_as_they_are_used(tmp_path):
    texts = pa.DictionaryArray.from_arrays(np.zeros(30_000, dtype=np.int32), ["x" * 100_000])
    pq.write_table(pa.table({"note": texts}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="2 GiB; .*plain columns"):
        blocks(tmp_path / "t.parquet")


def open_document(path, repeated):
    names = ("office", "table", "text")
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names
    )
    cell = "<table:table-cell><text:p>1</text:p></table:table-cell>"
    empty = '<table:table-cell table:number-columns-repeated="16000"/>'
    far = (
        f'<table:table-row table:number-rows-repeated="1048000">{empty}{repeated}</table:table-row>'
    )
    content = f"<table:table>{f'<table:table-row>{cell}</table:table-row>' * 9}{far}</table:table>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f"<office:body {spaces}>{content}</office:body>")
    return SimpleNamespace(_io=path)  # as much of a book as is looked at


def test_repeated_cells_of_an_open_document_are_counted_where_one_holds_something(tmp_path):
    _check_open(open_document(tmp_path / "t.ods", ""))
    far = "<table:table-cell><text:p>x</text:p></table:table-cell>"
    with pytest.raises(DataError, match="cell WQK1048009"):
        _check_open(open_document(tmp_path / "t.ods", far))


def test_a_binary_workbook_has_the_way_out(tmp_path):
    sheet(tmp_path / "t.xlsx").rename(tmp_path / "t.xlsb")
    with pytest.raises(DataError, match="binary workbook; .*CSV"):
        blocks(tmp_path / "t.xlsb")


def test_fit_refuses_numbers_that_its_file_could_not_hold(tmp_path):
    rng = np.random.default_rng(0)
    urea = rng.normal(size=200)
    frame = pd.DataFrame({"urea": urea * 1e-160, "crp": rng.normal(size=200)})
    frame["died"] = np.where(urea + rng.normal(size=200) > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    run = TableRun(len, rows=1000, jobs=1)
    with pytest.raises(DataError, match="'urea' .*unit"):
        fit_table(inferred(tmp_path / "t.csv"), tmp_path / "m.json", run, method="plain")
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize(
    "error", [MemoryError(), ImportError("x.so: failed to map segment from shared object")]
)
def test_too_little_memory_ends_in_one_line(error, tmp_path, monkeypatch, capsys):
    def called(app):
        raise error

    monkeypatch.setattr(command, "_called", called)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert "memory" in capsys.readouterr().err
