"""Compare rebuilt features and splits with their DVC pointers, or pull what is shared.

usage: python workflow/scripts/pointers.py [pull [TARGET ...]]
What equals its pointer enters the local cache; what differs is named.
"""

import logging
import sys

from deepcac.errors import DeepCACError
from deepcac_study.jobs.pointers import commit_rebuilt
from deepcac_study.jobs.sharing import ALONE, pull


def main(arguments: list[str]) -> int:
    """Return the exit code: 1 if a file differs from its pointer or nothing can be had."""
    logging.basicConfig(format="%(message)s")
    try:
        if arguments[:1] != ["pull"]:
            return int(bool(commit_rebuilt(".", ALONE)))
        here, missing = pull(".", arguments[1:])
    except DeepCACError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{here} files are here as they were shared; {missing} are not in the remote")
    return int(not here)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
