"""The command ``deepcac``: a table of one's own, judged."""

import sys

from deepcac.errors import DeepCACError

_MISSING = "deepcac: the command needs further packages: pip install 'deepcac[tables]' ({})"


def main() -> None:
    """Run the command; exit code 2, with one line, for what the user can mend."""
    try:
        from deepcac.table.commands import app
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


def _told(line: str) -> int:
    print(line, file=sys.stderr)
    return 2
