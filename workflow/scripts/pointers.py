"""Compare rebuilt features and splits with their DVC pointers, pull what is shared, or drop it.

usage: python workflow/scripts/pointers.py [pull [TARGET ...] | drop FILE ...]
Without a word: what equals its pointer enters the local cache; what differs is named.
Exit code 1: a file differs or came damaged, a TARGET is not in the remote, or nothing is. All of
these are named, and so is what a remote lacks of what nobody asked for by name.
"""

import logging
import sys

from deepcac.errors import ConfigError, one_line_errors
from deepcac_study.jobs.pointers import commit_rebuilt
from deepcac_study.jobs.sharing import ALONE, drop, pull


def pulled(targets: list[str]) -> int:
    """Pull, and name what cannot be had."""
    here, absent = pull(".", targets)
    for pointer in absent:
        print(f"not in the remote: {pointer.target} ({pointer.object_name})")
    print(f"{here} files are here as they were shared; {len(absent)} are not in the remote")
    return int(not here)  # a target that is not in the remote has raised


def main(arguments: list[str]) -> int:
    """Return the exit code."""
    logging.basicConfig(format="%(message)s")
    match arguments:
        case []:
            return int(bool(commit_rebuilt(".", ALONE)))
        case ["pull", *targets]:
            return pulled(targets)
        case ["drop", *files] if files:
            drop(".", files)
            return 0
    raise ConfigError(
        f"{' '.join(arguments)!r} is no call; known: pull [TARGET ...], drop FILE ..."
    )


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main(sys.argv[1:]))
