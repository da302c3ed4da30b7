"""A sample of the rows of a large table, drawn while it is read."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.table.columns.cells import plain, refuse_type
from deepcac.table.limits import MOST_ROWS
from deepcac.table.reading.delimited_text import GAPS
from deepcac.types import Ids


@dataclass(frozen=True)
class SampledTable:
    """What is kept of a table."""

    rows: pa.Table  # the rows that were drawn, in the order of the file; all rows of a small table
    number: Ids  # (n,) Number of each of them in the file, from 1, without the header
    keys: pa.Table  # the columns that were asked for by name, of every row
    total: int  # rows of the file
    place: Ids  # (n,) Place of each of them in `keys`
    gaps: bool = False  # whether empty rows stood between others, which `number` does not count

    def labelled(self, key: str) -> "SampledTable":
        """Return the rows that have a value in a key column."""
        present = np.asarray(pc.is_valid(plain(self.keys[key])).to_numpy())
        here = present[self.place]
        return SampledTable(
            self.rows.filter(pa.array(here)), self.number[here],
            self.keys.filter(pa.array(present)), int(present.sum()),
            (np.cumsum(present) - 1)[self.place[here]], self.gaps,
        )  # fmt: skip

    @property
    def complete(self) -> bool:
        """Whether every row was kept."""
        return len(self.number) == self.total


class _Kept(NamedTuple):
    """Rows, with the random number of each and its number in the file."""

    rows: pa.Table
    chance: npt.NDArray[np.uint64]
    number: Ids


def sample_rows(
    blocks: Iterable[pa.RecordBatch],
    keys: list[str],
    *,
    group: str | None = None,
    most: int = MOST_ROWS,
    seed: int = 0,
) -> SampledTable:
    """Read all blocks and keep the key columns of every row, and all columns of some rows.

    Each row gets a random number from its place, or from its `group`; the rows with the smallest
    numbers are kept. So at most twice as many rows as asked for are in memory at a time, rows of a
    group are kept or left together, and the same file and seed give the same rows.
    """
    parts: list[_Kept] = []
    watched: list[pa.RecordBatch] = []
    total, limit, gaps = 0, np.uint64(2**64 - 1), False
    for block in blocks:
        gaps = gaps or GAPS in (block.schema.metadata or {})
        refuse_absent(block.schema.names, keys)
        if group is not None:
            refuse_type(block.schema.field(group).type, group, "a group")
        number = np.arange(total + 1, total + 1 + block.num_rows, dtype=np.int64)
        total += block.num_rows
        watched.append(block.select(keys))
        chance = _chances(number if group is None else block.column(group), seed)
        wanted = np.flatnonzero(chance <= limit)
        rows = pa.table(block.take(pa.array(wanted)))
        parts.append(_Kept(rows, chance[wanted], number[wanted]))
        if sum(len(part.number) for part in parts) > 2 * most:
            parts, limit = _smallest(parts, most)
    if total > most:
        parts, _ = _smallest(parts, most)
    rows, _, number = _together(parts)
    return SampledTable(rows, number, pa.Table.from_batches(watched), total, number - 1, gaps)


def refuse_absent(names: Collection[str], keys: Iterable[str]) -> None:
    """Refuse columns that are needed and are not among those of a table."""
    for key in keys:
        if key not in names:
            listed = ", ".join([*names][:20]) + (", ..." if len(names) > 20 else "")
            raise DataError(f"no column {key!r}; there are {listed}")


def _chances(values: Any, seed: int) -> npt.NDArray[np.uint64]:
    """Return a random number for each value, equal for equal values."""
    plain = values if isinstance(values, np.ndarray) else values.to_pandas().astype(str).to_numpy()
    mixed = pd.util.hash_array(plain, hash_key=f"{seed:016d}"[-16:])
    if plain.dtype.kind in "iu":  # pandas hashes whole numbers without the key
        mixed = mixed ^ np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return mixed


def _together(parts: list[_Kept]) -> _Kept:
    rows, chance, number = zip(*parts, strict=True)
    return _Kept(pa.concat_tables(rows), np.concatenate(chance), np.concatenate(number))


def _smallest(parts: list[_Kept], most: int) -> tuple[list[_Kept], np.uint64]:
    """Keep the rows below the number that more than `most` rows do not exceed."""
    rows, chance, number = whole = _together(parts)
    if len(chance) <= most:
        return [whole], np.uint64(2**64 - 1)
    limit = np.partition(chance, most)[most] - np.uint64(1)
    wanted = np.flatnonzero(chance <= limit)
    if not len(wanted):
        raise DataError(f"one group has more than {most:,} rows; is it the right column?")
    return [_Kept(rows.take(pa.array(wanted)), chance[wanted], number[wanted])], limit
