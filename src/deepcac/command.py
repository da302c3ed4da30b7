"""The command ``deepcac``: a table of one's own, judged."""

import functools
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from deepcac.errors import ConfigError, DeepCACError

if TYPE_CHECKING:
    import typer

_MISSING = "deepcac: the command needs further packages: pip install 'deepcac[tables]' ({})"
_DECLARED = "deepcac.commands"
_CLONE_ONLY = "deepcac {} works in a clone of the project alone: pip install -e '.[workflow]' ({})"


def main() -> None:
    """Run the command; exit code 2, with one line, for what the user can mend."""
    try:
        app = whole_command()
    except ImportError as error:
        sys.exit(_told(_MISSING.format(error)))
    try:
        app(prog_name="deepcac")
    except DeepCACError as error:
        sys.exit(_told(f"deepcac: {error}"))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(_told(f"deepcac: {where}{error.strerror or error}"))
    except KeyboardInterrupt:
        sys.exit(_told("deepcac: stopped; nothing was written"))


@functools.cache
def whole_command() -> "typer.Typer":
    """Return the command with those that other packages declare as ``deepcac.commands``."""
    from deepcac.table.commands import app

    for entry in entry_points(group=_DECLARED):
        app.add_typer(_loaded(entry))
    return app


def _loaded(entry: EntryPoint) -> "typer.Typer":
    """Return what a package declares; where it is not installed, a command that says so."""
    try:
        commands: typer.Typer = entry.load()
    except ModuleNotFoundError as error:
        return _not_installed(entry.name, str(error))
    return commands


def _not_installed(name: str, why: str) -> "typer.Typer":
    import typer

    stub = typer.Typer()
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}

    @stub.command(name, hidden=True, add_help_option=False, context_settings=anything)
    def tell() -> None:
        raise ConfigError(_CLONE_ONLY.format(name, why))

    return stub


def _told(line: str) -> int:
    print(line, file=sys.stderr)
    return 2
