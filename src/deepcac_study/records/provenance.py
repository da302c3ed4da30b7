"""Where a record comes from: whether it may be shown to anybody, and whether its commit exists."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deepcac.errors import DataError
from deepcac_study.catalogue.registry import Registry
from deepcac_study.sourcecode import unknown_commits

_PLANTED = ("judge/planted/", "judge/transfer/planted_", "judge/scorecards/planted_")


def may_leave(registry: Registry, path: str, content: Mapping[str, Any]) -> bool:
    """Say whether a record may be shown to anybody; what the registry does not know may not.

    Records of open data may, and those of cohorts that the study plants; generated data of the
    demo are left out, because they are made in minutes. A record in the place of a restricted
    data set may not, whatever it says.
    """
    if path.startswith(_PLANTED):
        return content.get("synthetic") is True and "dataset" not in content
    known = {name: source for source in registry.sources.values() for name in source.datasets}
    named = [known[part] for part in Path(path).with_suffix("").parts if part in known]
    source = known.get(str(content.get("dataset")))
    if source is None or any(one.restricted for one in (source, *named)):
        return False
    return not content.get("synthetic")


def check_commits(commits: Mapping[str, str]) -> None:
    """Refuse records of a commit that is not in the history of this clone.

    Parameters
    ----------
    commits : mapping of str to str
        The commit of each record, by its path; an empty one is none.

    Raises
    ------
    DataError
        It names the first such record.
    """
    unknown = set(unknown_commits(commits.values()))
    for path, commit in commits.items():
        if commit in unknown:
            told = f"{path}: of commit {commit[:7] or '(none)'}"
            raise DataError(f"{told}, which this clone's history does not hold; run it again")
