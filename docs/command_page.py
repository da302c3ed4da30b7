"""The command's options on a page: python docs/command_page.py docs/command.md."""

import re
import sys
from collections import Counter
from pathlib import Path

from typer.cli import get_docs_for_click
from typer.main import get_command

from deepcac.command import whole_command

_MARKED = re.compile(r"(<!-- command -->\n).*?(<!-- end of command -->\n)", re.DOTALL)
_OPTION = re.compile(r"^\* `(--[\w-]+).*\n", re.MULTILINE)
_HELP = re.compile(r"^\* `--help`.*\n", re.MULTILINE)
_OPTIONS = "**Options**:\n\n"
_SEVERAL = 3  # commands that share an option with the same text


def with_command(page: str) -> str:
    """Return a page with every subcommand, its arguments, options and defaults between marks."""
    command = get_command(whole_command())
    context = command.make_context("deepcac", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="deepcac")
    text = once(re.sub(r"^# .*\n+", "", text.strip()))
    return _MARKED.sub(lambda marks: f"{marks[1]}\n{text}\n\n{marks[2]}", page)


def once(text: str) -> str:
    """Move the options that several commands share into one list, and name them elsewhere."""
    head, *commands = re.split(r"(?=^## )", text, flags=re.MULTILINE)
    commands = [_HELP.sub("", command) for command in commands]
    lines = Counter(match[0] for command in commands for match in _OPTION.finditer(command))
    shared = [line for line, n in lines.items() if n >= _SEVERAL]
    listed = "".join(shared)
    sections = [_without(command, shared) for command in commands]
    return "".join([head, f"## Options that several commands share\n\n{listed}\n", *sections])


def _without(command: str, shared: list[str]) -> str:
    names = [f"`{match[1]}`" for match in _OPTION.finditer(command) if match[0] in shared]
    for line in shared:
        command = command.replace(line, "")
    also = f"* Shared: {', '.join(names)}\n" if names else ""
    return command.replace(_OPTIONS, _OPTIONS + also)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_command(path.read_text(encoding="utf-8")), encoding="utf-8")
