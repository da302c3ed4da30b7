"""Compiled functions are kept where a folder can be written, and work where none can."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import deepcac

LIBRARY = "from deepcac import CACClassifier\n"
ADD = "from small import add\nprint(add(1, 2))"
# The libraries are loaded first: this Python may lie in a folder that nobody else can read.
AS_NOBODY = """
import os, numba, pandas, sklearn.base
numba.njit(lambda a, b: a + b)(1, 2)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
"""
SMALL = """
from deepcac.compilation import njit

@njit()
def add(a, b):
    return a + b
"""


@pytest.fixture
def package() -> Iterator[Path]:
    """A copy of the library that everybody can read and only its owner can write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(deepcac.__file__).parent, folder / "deepcac", ignore=ignored)
        (folder / "small.py").write_text(SMALL)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield folder


def call(package: Path, code: str, **variables: str) -> str:
    """Return what a call prints that has no home."""
    hidden = {"NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd="/",
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def kept(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("small.add-*.nbc")]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become another user"
)
@pytest.mark.parametrize(
    ("code", "given"), [(LIBRARY + ADD, {}), (ADD, {"NUMBA_CACHE_DIR": "/not/to/be/made"})]
)
def test_a_user_who_can_write_nowhere_compiles_in_memory(package, code, given):
    assert call(package, AS_NOBODY + code, **given) == "3\n"
    assert kept(package) == []


@pytest.mark.parametrize("named", [True, False])
def test_what_was_compiled_is_kept(package, tmp_path, named):
    given = {"NUMBA_CACHE_DIR": str(tmp_path)} if named else {}
    assert call(package, ADD, **given) == "3\n"
    assert len(kept(tmp_path if named else package)) == 1
