"""A folder that holds what a fresh clone would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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
