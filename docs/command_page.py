"""The page of the command's options, from the command itself: python docs/command_page.py PAGE."""

import sys
from pathlib import Path

from typer.cli import get_docs_for_click
from typer.main import get_command

from deepcac.command import whole_command


def command_page() -> str:
    """Return the page: every subcommand with its arguments, options and defaults."""
    command = get_command(whole_command())
    context = command.make_context("deepcac", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="deepcac", title="The command")
    return text.rstrip() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(command_page(), encoding="utf-8")
