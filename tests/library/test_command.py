"""The command finds what other packages declare, and says in one line what is not installed."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
import typer.testing

import deepcac
from deepcac.command import whole_command
from deepcac.table.command_line.command_options import PANELS

ROOT = Path(__file__).parents[2]
GROUP = "deepcac.commands"
OTHER = """
import typer
import typer.testing

import deepcac
from deepcac.command import whole_command
from deepcac.table.command_line.command_options import PANELS
app = typer.Typer()
@app.command()
def greet(name: str) -> None:
    print("hello", name)
"""


@pytest.fixture
def declared(tmp_path) -> Path:
    """Return a folder with an installed package that brings one command and names one it lacks."""
    (tmp_path / "other.py").write_text(OTHER)
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    lines = f"[{GROUP}]\ngreet = other:app\nleave = nowhere_to_be_found.sub:app\n"
    (info / "entry_points.txt").write_text(lines)
    return tmp_path


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    start = "from deepcac.command import main; main()"
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_declared_command_is_one_of_ours(declared):
    assert call(declared, "greet", "you").stdout == "hello you\n"
    assert "greet" in call(declared, "--help").stdout


@pytest.mark.parametrize("arguments", [(), ("table.csv", "--label", "died"), ("--help",)])
def test_one_that_is_not_installed_says_so_in_one_line(declared, arguments):
    done = call(declared, "leave", *arguments)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith("deepcac: deepcac leave ")
    assert "leave" not in call(declared, "--help").stdout


def test_what_the_project_declares_is_there():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    loaded = {name: EntryPoint(name, at, GROUP).load() for name, at in declared[GROUP].items()}
    assert loaded.keys() == {"add", "show"}
    assert all(isinstance(app, typer.Typer) for app in loaded.values())


def test_help_loads_nothing_that_reads_or_judges_tables(declared):
    start = (
        "import sys, atexit; from deepcac.command import main\n"
        "atexit.register(lambda: print([one for one in ('numpy', 'pandas', 'pyarrow', 'sklearn',"
        " 'matplotlib') if one in sys.modules]))\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", start, "--help"],
        cwd=declared,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_package(declared):
    assert call(declared, "--version").stdout == f"deepcac {deepcac.__version__}\n"


@pytest.mark.parametrize(
    "command", ["compare", "audit", "power", "profile", "fit", "predict", "validate"]
)
def test_help_groups_options_and_cuts_no_sentence_off(command):
    done = typer.testing.CliRunner().invoke(whole_command(), [command, "--help"])
    places = [done.output.index(f"\n{name}:\n") for name in ("The table", "The output", "Other")]
    assert places == sorted(places)
    assert "\nOptions:\n" not in done.output
    assert "..." not in done.output.replace("[OPTIONS]", "")
    every = typer.testing.CliRunner().invoke(whole_command(), ["--help"]).output
    paragraph = typer.main.get_command(whole_command()).commands[command].help.split("\n\n")[0]
    assert " ".join(paragraph.split()) in " ".join(every.split())


def test_every_option_stands_under_a_heading_and_is_a_sentence():
    commands = typer.main.get_command(whole_command()).commands
    for name, command in commands.items():
        for param in command.params:
            assert param.rich_help_panel in PANELS, (name, param.name)
            assert param.help[0].isupper(), (name, param.name)
            assert param.help[-1] in ".)", (name, param.name)
