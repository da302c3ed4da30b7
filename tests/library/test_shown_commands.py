"""Every `deepcac` command that README and docs show has options and values that the command takes."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from deepcac.command import whole_command

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?deepcac (.*?)(?:\s+#.*)?$", re.MULTILINE)
GENERATED = re.compile(r"<!-- command -->.*?<!-- end of command -->", re.DOTALL)


def shown():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = GENERATED.sub("", page.read_text(encoding="utf-8"))
        for block in BLOCK.findall(text):
            for line in LINE.findall(block):
                yield f"{page.name}: {line}"


@pytest.fixture(scope="module")
def command():
    return get_command(whole_command())


def parse(command, line):
    name, *words = shlex.split(line)
    with command.commands[name].make_context(name, words):
        return name


@pytest.mark.parametrize("line", list(shown()))
def test_a_shown_command_is_one_that_the_command_takes(command, line):
    assert parse(command, line.partition(": ")[2])


def test_pages_show_most_commands(command):
    names = {line.partition(": ")[2].split()[0] for line in shown()}
    assert names >= {"profile", "compare", "audit", "power", "fit", "predict", "validate", "add"}
    with pytest.raises(Exception, match="no-such-option"):
        parse(command, "compare patients.csv --label died --no-such-option")
