"""A folder that holds what a fresh clone would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# What is written by people; `make docs` puts the gallery's own pages beside it.
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in ROOT.glob("docs/*.md") if not page.name.startswith("gallery-")),
]


def checkout(folder: Path) -> Path:
    """Copy what git tracks here into a new folder, as a fresh clone would hold it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def environment(folder: Path) -> dict[str, str]:
    tools = Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHONPATH": str(folder / "src"), "PATH": path, "DEEPCAC_MIRROR": ""}


def python(
    folder: Path, *words: str, code: int = 0, home: Path | None = None, **options: Any
) -> str:
    """Run Python in a folder with the project's code (of `home` if given); return what it says."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(home or folder) | options.pop("env", {}),
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def snakemake(folder: Path, *words: str, **options: Any) -> str:
    """Run Snakemake in a folder, as `python` does."""
    return python(folder, "-m", "snakemake", *words, **options)
