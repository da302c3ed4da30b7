import hashlib
import os
import subprocess
import sys

import pytest

from deepcac.errors import DataError
from deepcac_study.jobs.pointers import (
    align_times,
    commit_rebuilt,
    dvc,
    find_pointers,
    read_pointers,
    write_pointer,
)


def track(path, content: bytes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    digest = hashlib.md5(content).hexdigest()
    path.with_name(path.name + ".dvc").write_text(
        f"outs:\n- md5: {digest}\n  size: {len(content)}\n  hash: md5\n  path: {path.name}\n"
    )


def test_states_of_tracked_files(tmp_path):
    for name in ("a", "b", "c"):
        track(tmp_path / "data" / name, name.encode())
    (tmp_path / "data" / "b").write_bytes(b"other")
    (tmp_path / "data" / "c").unlink()
    pointers = list(find_pointers([tmp_path / "data"]))
    assert [p.state() for p in pointers] == ["same", "changed", "absent"]
    copy = tmp_path / "cache" / "files" / "md5" / pointers[0].md5[:2] / pointers[0].md5[2:]
    assert not pointers[0].cached(tmp_path / "cache")
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"a")
    assert pointers[0].cached(tmp_path / "cache")
    copy.write_bytes(b"\0")
    assert not pointers[0].cached(tmp_path / "cache")


def test_a_pointer_names_each_of_its_files(tmp_path):
    files = [tmp_path / "d" / name for name in ("b", "a")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text(file.name)
    write_pointer(tmp_path / "all.dvc", files)
    found = read_pointers(tmp_path / "all.dvc")
    assert [p.target for p in found] == files[::-1]
    assert [p.md5 for p in found] == [hashlib.md5(name).hexdigest() for name in (b"a", b"b")]
    assert list(find_pointers([tmp_path / "all.dvc"])) == found


def test_files_get_one_time_that_is_not_before_any_other(tmp_path):
    files = [tmp_path / name for name in "abc"]
    for i, file in enumerate(files):
        file.touch()
        os.utime(file, ns=(0, 10**18 + i))
    (tmp_path / "script").touch()
    align_times(files)
    (stamp,) = {file.stat().st_mtime_ns for file in files}
    assert stamp >= (tmp_path / "script").stat().st_mtime_ns


OWN = "outs:\n- md5: 0cc175b9c0f1b6a831c399e269772661\n  size: 1\n  hash: md5\n  path: "


@pytest.mark.parametrize("place", ["../x", "/etc/x", "a/../../x", ".", "''", "link/x", '"a\\nb"'])
def test_a_pointer_that_leads_out_of_its_folder_is_refused(tmp_path, place):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "link").symlink_to(tmp_path)
    path = tmp_path / "p" / "x.dvc"
    path.write_text(OWN + place)
    with pytest.raises(DataError, match=r"x\.dvc: (leads out of|not a DVC pointer)") as caught:
        read_pointers(path)
    assert "\n" not in str(caught.value)
    path.write_text(f"{OWN}a/x")
    assert [found.target for found in read_pointers(path)] == [tmp_path / "p" / "a" / "x"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "outs: []", "outs:\n- path: x\n", "a: [", "- 1"),
        f"wdir: ..\n{OWN}x",  # another folder than its own
        f"{OWN}x\n  cache: false",
        f"{OWN}x\ndeps:\n- path: http://localhost/x",
        OWN.replace("0cc175b9c0f1b6a831c399e269772661", "../../../../x") + "x",
        OWN.replace("size: 1", "size: -1") + "x",
    ],
)
def test_a_foreign_pointer_is_named(tmp_path, text):
    path = tmp_path / "x.dvc"
    path.write_text(text)
    with pytest.raises(DataError, match=r"x\.dvc") as caught:
        read_pointers(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_rebuilt_files_are_committed_in_a_folder_of_any_name(tmp_path, caplog):
    name = 'größe $(touch y);ls quote\'s "two"'
    root = tmp_path / name
    root.mkdir()
    track(root / "data" / "same", b"same")
    track(root / "data" / "other", b"shared")
    (root / "data" / "other").write_bytes(b"rebuilt")
    assert commit_rebuilt(root, ["data"]) == []  # no DVC project: nothing is done
    init = [sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"]
    subprocess.run(init, cwd=root, check=True)
    assert commit_rebuilt(root, ["data"]) == ["data/other"]
    assert "data/other: " in caplog.text
    assert [p.cached(root / ".dvc" / "cache") for p in find_pointers([root / "data"])] == [
        False,
        True,
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert not (root / "y").exists()


def test_a_failing_dvc_is_one_line(tmp_path):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core\n")
    with pytest.raises(DataError, match="dvc push failed") as caught:
        dvc(tmp_path, "push")
    assert "\n" not in str(caught.value)
