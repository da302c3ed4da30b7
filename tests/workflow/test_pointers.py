import hashlib
import os
import subprocess
import sys

import pytest

from deepcac.errors import DataError
from deepcac.pointers import align_times, commit_rebuilt, find_pointers, read_pointer


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
    cached = tmp_path / "cache" / "files" / "md5" / pointers[0].md5[:2] / pointers[0].md5[2:]
    assert not pointers[0].cached(tmp_path / "cache")
    cached.parent.mkdir(parents=True)
    cached.touch()
    assert pointers[0].cached(tmp_path / "cache")


def test_unchanged_files_get_one_time_and_changed_ones_keep_theirs(tmp_path):
    for i, name in enumerate(("a", "b", "c")):
        track(tmp_path / name, name.encode())
        os.utime(tmp_path / name, ns=(0, 10**18 + i))
    (tmp_path / "c").write_bytes(b"changed")
    os.utime(tmp_path / "c", ns=(0, 5))
    assert align_times(find_pointers([tmp_path])) == 2
    assert (tmp_path / "a").stat().st_mtime_ns == (tmp_path / "b").stat().st_mtime_ns == 10**18
    assert (tmp_path / "c").stat().st_mtime_ns == 5


@pytest.mark.parametrize("text", ["", "outs: []", "outs:\n- path: x\n", "a: [", "- 1"])
def test_a_foreign_pointer_is_named(tmp_path, text):
    path = tmp_path / "x.dvc"
    path.write_text(text)
    with pytest.raises(DataError, match=r"x\.dvc") as caught:
        read_pointer(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["with space", "x$(touch y)", 'quote\'s "two"', "größe;ls"])
def test_rebuilt_files_are_committed_in_a_folder_of_any_name(tmp_path, name, caplog):
    root = tmp_path / name
    root.mkdir()
    track(root / "data" / "same", b"same")
    track(root / "data" / "other", b"shared")
    (root / "data" / "other").write_bytes(b"rebuilt")
    assert commit_rebuilt(root, ["data"]) == []  # no DVC project: nothing is done
    init = [sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"]
    subprocess.run(init, cwd=root, check=True)
    assert commit_rebuilt(root, ["data"]) == ["data/other"]
    assert "data/other: not the bytes that were shared" in caplog.text
    assert [p.cached(root / ".dvc" / "cache") for p in find_pointers([root / "data"])] == [
        False,
        True,
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]
    assert not (root / "y").exists()


def test_a_failing_dvc_is_one_line(tmp_path):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core\n")
    track(tmp_path / "data" / "same", b"same")
    with pytest.raises(DataError, match="dvc commit failed") as caught:
        commit_rebuilt(tmp_path, ["data"])
    assert "\n" not in str(caught.value)
