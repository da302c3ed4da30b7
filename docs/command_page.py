"""The command's options on a page: python docs/command_page.py docs/command.md."""

import re
import sys
from pathlib import Path

from typer.cli import get_docs_for_click
from typer.main import get_command

from deepcac.command import whole_command

_MARKED = re.compile(r"(<!-- command -->\n).*?(<!-- end of command -->\n)", re.DOTALL)


def with_command(page: str) -> str:
    """Return a page with every subcommand, its arguments, options and defaults between marks."""
    command = get_command(whole_command())
    context = command.make_context("deepcac", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="deepcac")
    text = re.sub(r"^# .*\n+", "", text.strip())
    return _MARKED.sub(lambda marks: f"{marks[1]}\n{text}\n\n{marks[2]}", page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_command(path.read_text(encoding="utf-8")), encoding="utf-8")
