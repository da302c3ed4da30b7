"""What the wheel holds: the package with its tables, and nothing else."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from checkouts import ROOT

pytestmark = pytest.mark.slow
PACKAGE = ROOT / "src" / "deepcac"


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> set[str]:
    """Build the wheel without the network, from a copy so that nothing is left in the checkout."""
    copy = tmp_path_factory.mktemp("wheel") / "copy"
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", copy / "src", ignore=leave)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    (copy / "src" / "deepcac_study").mkdir(exist_ok=True)
    (copy / "src" / "deepcac_study" / "__init__.py").touch()
    (copy / "tests").mkdir()
    (copy / "tests" / "test_x.py").touch()
    (copy / "data").mkdir()
    (copy / "data" / "patients.parquet").touch()
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir"]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(copy / "dist"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (copy / "dist").glob("deepcac-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_package(names):
    ours = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours <= names
    endings = {Path(name).suffix for name in ours}
    assert endings >= {".py", ".yaml", ".html", ".css", ".js", ".typed"}


def test_the_wheel_holds_nothing_else(names):
    rest = {name for name in names if not name.startswith("deepcac/")}
    assert {name.split("/")[0].rpartition(".")[2] for name in rest} == {"dist-info"}
    kinds = {".py", ".csv", ".yaml", ".json", ".html", ".css", ".js", ".typed"}
    assert {Path(name).suffix for name in names - rest} <= kinds
    assert not [name for name in names if "test" in Path(name).stem.split("_")]
