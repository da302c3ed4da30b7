"""Errors a user can act on: one line that names the thing and the way out; and warnings."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class DeepCACError(Exception):
    """Base of every error that the package raises on purpose."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """End a program that meets a `DeepCACError` with its one line and exit code 1."""
    try:
        yield
    except DeepCACError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)


class DataError(DeepCACError, ValueError):
    """Raw or derived data are not what their format promises."""


class DataTypeError(DataError, TypeError):
    """Rows are of a type that holds no table of numbers."""


class FetchError(DeepCACError, OSError):
    """A raw file could not be fetched, or is not the file that was asked for."""


class ConfigError(DeepCACError, ValueError):
    """A configuration, registry entry or parameter is unknown or out of range."""


class CollapseWarning(UserWarning):
    """The clusters are classes in disguise, so the base classifiers have no say."""


class ScaleWarning(UserWarning):
    """Columns are on scales so different that one of them decides alone."""


class VersionWarning(UserWarning):
    """A model was saved by another version of the package."""


class TrustWarning(UserWarning):
    """A saved model is read only by who trusts what is in it."""
