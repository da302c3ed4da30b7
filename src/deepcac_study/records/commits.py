"""The commit of the code that makes a record, and a check that a record's commit exists."""

import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from deepcac.errors import DataError

_ROOT = Path(__file__).parents[2]


@cache
def code_commit() -> str | None:
    """Return the commit of this clone; None if its code is edited, or outside a clone."""
    edited = _git("status", "--porcelain", "--untracked-files=no", "--", str(_ROOT))
    made = _git("rev-parse", "HEAD")
    return None if edited.returncode or edited.stdout else made.stdout.strip() or None


def check_commits(commits: Mapping[str, str]) -> None:
    """Raise `DataError` for records of a commit that is not in the history of this clone.

    Parameters
    ----------
    commits : mapping of str to str
        The commit of each record, by its path; empty ones are ignored.

    Raises
    ------
    DataError
        It names the first such record.
    """
    unknown = set(_unknown(commits.values()))
    for path, commit in commits.items():
        if commit in unknown:
            subject = f"{path}: of commit {commit[:7] or '(none)'}"
            raise DataError(f"{subject}, which this clone's history does not hold; run it again")


def _unknown(commits: Iterable[str]) -> list[str]:
    """Return those commits that are not in the history of this clone, sorted.

    Outside a clone, or in a shallow one, none is known to be missing.
    """
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        return []
    asked = sorted(set(commits))
    return [
        commit for commit in asked if _git("merge-base", "--is-ancestor", commit, "HEAD").returncode
    ]


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    """Run git in the repository; exit code 127 if it cannot start."""
    asked = ["git", "-C", str(_ROOT), *words]
    try:
        return subprocess.run(asked, capture_output=True, check=False, text=True)
    except OSError as error:  # there is no git
        return subprocess.CompletedProcess(asked, 127, "", str(error))
