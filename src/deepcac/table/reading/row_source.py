"""Rows that are made from several files, where a command would read one table."""

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence

import pyarrow as pa


class RowSource(os.PathLike[str]):
    """What a command reads like a table; its path is the folder it is made from.

    Attributes
    ----------
    remarks : tuple of str
        What a reader must know of how the rows are made.
    arguments : tuple of str
        What names it on the command line.
    roles : dict
        Columns that are no features, and why.
    """

    remarks: tuple[str, ...]
    arguments: tuple[str, ...]
    roles: dict[str, str]

    @abstractmethod
    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, block by block."""

    @abstractmethod
    def files(self) -> list[str]:
        """Return every file that is read."""

    @abstractmethod
    def with_features(self, names: Sequence[str]) -> "RowSource":
        """Return the same rows with the features of these names, those of a fitted model."""
