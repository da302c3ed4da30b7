"""What can be asked together: one table of the pairs that have no answer, for every command."""

from collections.abc import Iterable, Mapping

from deepcac.errors import ConfigError

# Conditions that are no option.
CLASSES, FOLLOW_UP = "three classes or more", "a follow-up time"
_ELSEWHERE = "has no answer with {1}: every place is tested once; ask without it"
_TWO = "join classes in the table, or for a number give outcome: above in the description"
REFUSED: Mapping[tuple[str, str], str] = {
    ("--site", "--external"): "and {1} answer two questions; ask for one of them",
    ("--budget", "--site"): _ELSEWHERE,
    ("--budget", "--external"): _ELSEWHERE,
    ("--resamples", "--site"): _ELSEWHERE,
    ("--resamples", "--external"): _ELSEWHERE,
    ("--thresholds", CLASSES): f"needs an outcome of two classes; {_TWO}",
    ("--by", CLASSES): f"needs an outcome of two classes; {_TWO}",
    ("--bootstrap", CLASSES): f"needs an outcome of two classes; {_TWO}",
    ("power", CLASSES): f"plants outcomes of two classes; {_TWO}, or ask `compare`",
    ("--method subtypes", FOLLOW_UP): "has no answer with {1}; use auto, plain, k-means or CAC",
    ("--method subtypes", "--bootstrap"): "has no answer with {1}; ask without one of them",
    ("--risk", "a model"): "and {1} answer two questions; name one of them",
}


def refuse_pairs(asked: Iterable[str]) -> None:
    """Refuse what has no answer together.

    Parameters
    ----------
    asked : iterable of str
        Options that were given, and what is so of the table (`CLASSES`, `FOLLOW_UP`).

    Raises
    ------
    ConfigError
        Two of them are among `REFUSED`.
    """
    together = set(asked)
    for (first, second), reason in REFUSED.items():
        if {first, second} <= together:
            raise ConfigError(f"{first} {reason.format(first, second)}")


def given(**options: object) -> list[str]:
    """Return the names of the options that were given: those that are not None, False or empty."""
    return [
        f"--{name.replace('_', '-')}"
        for name, value in options.items()
        if not (value is None or value is False or value == () or value == [])
    ]
