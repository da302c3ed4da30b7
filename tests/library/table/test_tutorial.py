"""The blocks of the pages on a table and on Python are run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


@pytest.fixture
def commands(tmp_path) -> dict[str, str]:
    """Put `deepcac` of this checkout first on the PATH, then this environment."""
    folder = tmp_path / "bin"
    folder.mkdir()
    start = f"#!{sys.executable}\nfrom deepcac.command import main\nmain()\n"
    (folder / "deepcac").write_text(start)
    (folder / "deepcac").chmod(0o755)
    path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src")}


def follow(page: str, folder: Path, commands: dict[str, str]) -> None:
    line = [sys.executable, str(ROOT / "docs/run_blocks.py"), str(ROOT / "docs" / page), "."]
    done = subprocess.run(
        line, cwd=folder, env=commands, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_page_on_your_table_is_followed_in_an_empty_folder(tmp_path, commands):
    folder = tmp_path / "empty"
    folder.mkdir()
    follow("your-table.md", folder, commands)
    page = (folder / "compare.html").read_text()
    assert re.search(r'<h1 class="answer">Use [^<]* without clusters', page)
    assert (folder / "risk.csv").read_text().startswith("row,risk")
    assert len((folder / "risk.csv").read_text().splitlines()) == 570


@pytest.mark.long
def test_the_page_on_python_makes_the_pictures_that_it_shows(tmp_path, commands):
    folder = tmp_path / "gallery"
    folder.mkdir()
    follow("python.md", folder, commands)
    text = (ROOT / "docs" / "python.md").read_text()
    shown = [name for name in text.replace("(", ")").split(")") if name.startswith("gallery-")]
    assert len(shown) == text.count("](gallery-") > 2
    for name in shown:
        assert (folder / name).stat().st_size > 5_000
    page = (folder / "gallery-compare.html").read_text()
    assert re.search(r'<h1 class="answer">[^<]*(clusters|they) help', page, re.IGNORECASE)
