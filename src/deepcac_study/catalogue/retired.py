"""Keys of the configuration of finished studies, which are no longer accepted."""

from typing import Any

from deepcac.errors import ConfigError

RETIRED = (
    "factorial",
    "judge.public",
    "judge.questions",
    "judge.richer_labels",
    "judge.scorecards",
    "judge.tables.shapes",
    "judge.transfer",
)
_PAGE = "docs/archive/studies.md"


def refuse_retired(config: dict[str, Any]) -> None:
    """Raise an error for a key of a finished study.

    Raises
    ------
    ConfigError
        A key of `RETIRED` is there.
    """
    for key in RETIRED:
        part: Any = config
        for name in key.split("."):
            part = part.get(name) if isinstance(part, dict) else None
        if part is not None:
            raise ConfigError(
                f"configuration: {key}: this study is finished, take the key out; {_PAGE} has its "
                "answer and the commit that repeats it"
            )
