"""What every workflow script relies on: whole files or none, one-line errors, thread limits."""

import ctypes
import errno
import os
import platform
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path, check_writable
from deepcac.files.storage import (
    content_digest,
    read_json,
    read_table,
    write_json,
    write_table,
)
from deepcac_study.cohort import steps, write_cohort
from deepcac_study.jobs.job import keep_freed_memory

SCRIPT = """
import os, sys
from types import SimpleNamespace
from deepcac.errors import ConfigError, DataError
from deepcac_study.jobs.job import job

with job(SimpleNamespace(threads=2, log=[sys.argv[1]], rule="extract")):
    {body}
"""


def run_job(body, log):
    """Run a script as Snakemake does, in a process of its own; return it and its log."""
    script = SCRIPT.format(body=body)
    done = subprocess.run(
        [sys.executable, "-c", script, str(log)], capture_output=True, text=True, check=False
    )
    return done, log.read_text()


def test_an_error_of_the_data_is_one_line_in_the_log_and_exit_code_1(tmp_path):
    done, log = run_job("raise DataError('set-a.txt line 3: not a number')", tmp_path / "log")
    assert done.returncode == 1
    assert log == done.stderr
    assert log.endswith("deepcac.extract: error: set-a.txt line 3: not a number\n")
    assert log.count("\n") == 1


def test_a_library_that_is_not_installed_is_one_line_with_the_way_out(tmp_path):
    done, log = run_job("import pyarrow_of_nobody.lib", tmp_path / "log")
    assert done.returncode == 1
    assert re.search("pyarrow_of_nobody .*`make env`", log)
    assert log.count("\n") == 1


def test_a_fault_of_ours_keeps_its_traceback(tmp_path):
    done, log = run_job("1 / 0", tmp_path / "log")
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in log


def test_numeric_libraries_see_the_threads_of_the_rule(tmp_path):
    names = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    done, _ = run_job(f"print([os.environ[name] for name in {names}])", tmp_path / "log")
    assert done.stdout.strip() == "['2', '2']"


def write_half(path):
    with atomic_path(path) as partial:
        partial.write_text("half a")
        raise OSError("disk full")


def test_a_file_is_whole_or_absent(tmp_path):
    target = tmp_path / "new" / "table.csv"
    with pytest.raises(OSError, match="disk full"):
        write_half(target)
    assert list(target.parent.iterdir()) == []
    with atomic_path(target) as partial:
        partial.write_text("whole")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["table.csv"]


def test_tables_are_the_same_bytes_and_a_damaged_one_is_named(tmp_path):
    table = pa.table({"x": np.arange(5.0), "name": list("abcde")})
    for name in ("a", "b"):
        write_table(tmp_path / name, table)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert read_table(tmp_path / "a", ["name"]).column_names == ["name"]
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:-9])
    for damaged in ("b", "absent"):
        with pytest.raises(DataError, match=f"{damaged}: .*parquet"):
            read_table(tmp_path / damaged)


@settings(max_examples=200, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_a_data_error_or_no_difference(tmp_path_factory, place, bit):
    folder = tmp_path_factory.mktemp("flip")
    labels = pa.array([[1, 0], [2], []], pa.list_(pa.int8()))
    table = pa.table({"größe": [0.5, 1.5, None], "name": list("abc"), "labels": labels})
    write_table(folder / "t", table)
    assert read_table(folder / "t").equals(table)
    content = bytearray((folder / "t").read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    (folder / "t").write_bytes(content)
    try:
        read = read_table(folder / "t")
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert read.equals(table)


def test_a_column_that_is_not_there_is_named(tmp_path):
    write_table(tmp_path / "t", pa.table({"x": [1]}))
    with pytest.raises(DataError, match="absent"):
        read_table(tmp_path / "t", ["x", "absent"])


def test_a_table_of_another_program_is_read(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t")
    assert read_table(tmp_path / "t")["x"].to_pylist() == [1]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="absent: cannot be written") as caught:
        check_writable(tmp_path / "absent")
    assert "\n" not in str(caught.value)


def test_json_refuses_what_is_no_number(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"score": float("nan")})
    assert list(tmp_path.iterdir()) == []
    write_json(tmp_path / "x.json", {"b": 1, "a": "ä"})
    read = read_json(tmp_path / "x.json")
    assert read == {"a": "ä", "b": 1, "digest": content_digest({"a": "ä", "b": 1})}


def test_an_edited_or_foreign_json_is_refused(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"flow": {10: 1, 9: 2}, "machine": {"seconds": 1}})
    assert read_json(path)["flow"] == {"10": 1, "9": 2}
    whole = path.read_text()
    edits = ('"9": 2', '"9": 3'), ('"seconds": 1', '"seconds": 2'), ("digest", "dibest")
    for damage in (*(whole.replace(*edit) for edit in edits), "{}"):
        path.write_text(damage)
        with pytest.raises(DataError, match=r"x\.json: edited or damaged"):
            read_json(path)


def test_a_cohort_counts_classes_and_holds_no_row(tmp_path):
    flow = steps({"stays": 5, "of 24 hours": 3})
    label = np.array([0, 1, 1])
    write_cohort(tmp_path / "c.json", flow, unit="ICU stay", label=label, sets={"a": 3})
    written = read_json(tmp_path / "c.json")
    written.pop("digest")
    assert written == {
        "unit": "ICU stay",
        "flow": [{"step": "stays", "rows": 5}, {"step": "of 24 hours", "rows": 3}],
        "classes": {"0": 1, "1": 2},
        "sets": {"a": 3},
    }


def test_what_a_killed_writer_left_is_removed_and_a_living_ones_file_is_not(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {pid: f".x.json.{pid}.partial" for pid in (gone.pid, os.getppid())}
    for name in (*names.values(), f".y.json.{gone.pid}.partial"):
        (tmp_path / name).write_text("half a")
    write_json(tmp_path / "x.json", {})
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"x.json", names[os.getppid()], f".y.json.{gone.pid}.partial"}


def test_bytes_are_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    calls = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append("fsync"), real["fsync"](fd)))
    monkeypatch.setattr(os, "replace", lambda *a: (calls.append("replace"), real["replace"](*a)))
    write_json(tmp_path / "x.json", {})
    assert calls == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xfe", b"[]", b'{"a": 1'])
def test_any_damaged_json_is_a_data_error(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.json"):
        read_json(tmp_path / "x.json")


@pytest.mark.parametrize("code", ["ENOSPC", "EDQUOT", "EFBIG", "EACCES", "EROFS"])
def test_a_full_or_closed_disk_is_one_line(tmp_path, code):
    body = f"import errno; raise OSError(errno.{code}, os.strerror(errno.{code}), 'data/x.parquet')"
    done, log = run_job(body, tmp_path / "log")
    assert done.returncode == 1
    assert "error: data/x.parquet: " in log
    assert log.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_log_on_a_full_disk_does_not_hide_the_error():
    script = SCRIPT.format(body="raise DataError('set-a.txt line 3: not a number')")
    command = [sys.executable, "-c", script, "/dev/full"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("error: set-a.txt line 3: not a number\n")


def test_numba_finds_a_cache_of_its_own_for_each_state_of_the_code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    done, _ = run_job("print(os.environ['NUMBA_CACHE_DIR'])", tmp_path / "log")
    assert done.stdout.startswith(str(tmp_path / "cache" / "deepcac"))


def test_only_the_columns_that_are_asked_for_are_read(tmp_path):
    table = pa.table({"seed": [0, 0, 1], "text": list("abc")})
    write_table(tmp_path / "table", table)
    assert read_table(tmp_path / "table") == table
    assert read_table(tmp_path / "table", ["text"]) == table.select(["text"])
    with pytest.raises(DataError, match="build it again"):
        read_table(tmp_path / "table", ["split"])


KEPT = """
import resource, sys
import numpy as np
from deepcac_study.jobs.job import keep_freed_memory

if sys.argv[1] == "kept":
    assert keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(6_000_000)  # 48 MB
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_a_freed_array_serves_the_next_one():
    faults = [
        int(subprocess.check_output([sys.executable, "-c", KEPT, how])) for how in ("as is", "kept")
    ]
    assert faults[1] < faults[0] / 5


def test_another_c_library_is_left_as_it_is(monkeypatch):
    def none(_):
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", none)
    assert not keep_freed_memory()


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_keeps_its_rights_and_a_link_stays_one(tmp_path, rights):
    (tmp_path / "away").mkdir()
    own, link = tmp_path / "away" / "risk.csv", tmp_path / "risk.csv"
    own.write_text("old")
    own.chmod(rights)
    link.symlink_to(own)
    with atomic_path(link) as partial:
        partial.write_text("new")
        assert partial.parent == own.parent
        assert partial.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink()
    assert own.read_text() == "new"
    assert own.stat().st_mode & 0o777 == rights
    assert sorted(tmp_path.rglob("*")) == sorted([own.parent, own, link])


def test_a_full_disk_is_told_with_the_file_that_was_written(tmp_path):
    path = tmp_path / "t.csv"
    with pytest.raises(OSError, match="No space left") as stopped, atomic_path(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert stopped.value.filename == str(path)
    assert not list(tmp_path.iterdir())
