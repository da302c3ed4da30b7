"""Errors a user can act on, of one line that says what is wrong and what to do; and warnings."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class DeepCACError(Exception):
    """Base of every error that the package raises on purpose."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Print a `DeepCACError` raised in the block as one line, and exit with code 1."""
    try:
        yield
    except DeepCACError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


class DataError(DeepCACError, ValueError):
    """Raw or derived data are not what their format promises."""


class DataTypeError(DataError, TypeError):
    """Rows are of a type that cannot be a table of numbers."""


class FetchError(DeepCACError, OSError):
    """A raw file could not be fetched, or has another digest than expected."""


class ConfigError(DeepCACError, ValueError):
    """A configuration, registry entry or parameter is unknown or out of range."""


class CollapseWarning(UserWarning):
    """The clusters are classes in disguise, so the base classifiers have no say."""


class ScaleWarning(UserWarning):
    """Columns have such different scales that one of them alone decides the clusters."""


class VersionWarning(UserWarning):
    """A model was saved by another version of the package."""


class TrustWarning(UserWarning):
    """A saved model can be loaded only by naming the types in it as trusted."""
