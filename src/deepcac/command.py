"""The command ``deepcac``: compare, describe and model your own table."""

import functools
import os
import signal
import sys
import warnings
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from deepcac.errors import ConfigError, DeepCACError

if TYPE_CHECKING:
    import typer

_MISSING = "deepcac: the command needs further packages: pip install 'deepcac[tables]' ({})"
_NO_MEMORY = "deepcac: not enough memory; use fewer rows or columns, or fewer --jobs"
_DECLARED = "deepcac.commands"
_CLONE_ONLY = "deepcac {} works only in a clone of the project: pip install -e '.[workflow]' ({})"


def main() -> None:
    """Run the command and exit; an error that the user can fix is one line and exit code 2."""
    # A polite kill ends the command as Ctrl-C does, and with it the processes that it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Warnings of libraries are for programmers; the processes that are started inherit this.
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    try:
        app = whole_command()
    except ImportError as error:
        sys.exit(_report(_MISSING.format(error)))
    try:
        sys.exit(_called(app))
    except DeepCACError as error:
        sys.exit(_report(f"deepcac: {error}"))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(_report(f"deepcac: {where}{error.strerror or error}"))
    except MemoryError:
        sys.exit(_report(_NO_MEMORY))
    except ImportError as error:  # of a module that is imported where it is used
        no_room = "map segment" in str(error)
        sys.exit(_report(_NO_MEMORY if no_room else _MISSING.format(error)))
    except KeyboardInterrupt:
        sys.exit(_report("deepcac: stopped; nothing was written"))


def _called(app: "typer.Typer") -> int:
    """Run the command and return its exit code; wrong usage is reported in one line, not four."""
    import typer

    # The base of all usage errors; which module has it differs between versions of typer.
    wrong_use: Any = typer.BadParameter.__base__
    try:
        code = app(prog_name="deepcac", standalone_mode=False)
    except typer.Abort as stopped:
        raise KeyboardInterrupt from stopped
    except wrong_use as error:
        message = error.format_message().strip()
        if "\n" in message:  # the help, where nothing was asked for
            return _report(message)
        where = f" ({error.ctx.command_path} --help)" if error.ctx else ""
        return _report(f"deepcac: {message}{where}")
    return code if isinstance(code, int) else 0


@functools.cache
def whole_command() -> "typer.Typer":
    """Return the command with the subcommands of entry points ``deepcac.commands``."""
    from deepcac.table.commands import app

    for entry in entry_points(group=_DECLARED):
        app.add_typer(_loaded(entry))
    return app


def _loaded(entry: EntryPoint) -> "typer.Typer":
    """Import the subcommand of an entry point; if that fails, return a stub that explains why."""
    try:
        commands: typer.Typer = entry.load()
    except ModuleNotFoundError as error:
        return _not_installed(entry.name, str(error))
    return commands


def _not_installed(name: str, why: str) -> "typer.Typer":
    """Return a hidden command of this name that raises ConfigError."""
    import typer

    stub = typer.Typer()
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}

    @stub.command(name, hidden=True, add_help_option=False, context_settings=anything)
    def tell() -> None:
        raise ConfigError(_CLONE_ONLY.format(name, why))

    return stub


def _report(line: str) -> int:
    """Print a line to standard error and return the exit code 2."""
    print(line, file=sys.stderr)
    return 2
