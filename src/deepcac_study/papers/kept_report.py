"""The report's own tables as kept files, and when a newer report may take their place."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deepcac.errors import DataError
from deepcac_study.papers.agreement import NOT_PRINTED
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.evidence import NOT_RUN
from deepcac_study.papers.ledger import Entry, read_rows

LEDGER, CLAIMS, SUMMARY = REPORT = ("ledger", "claims", "summary")

_CELL = ("paper", "table", "kind", "dataset", "method", "k", "item", "printed")
_WAITING = ("", NOT_RUN)  # no run behind a cell; the verdict on a claim


def covers(made: Path, kept: Path) -> bool:
    """Say whether nothing in a report waits for a run that an older ledger and claims had.

    Where either folder has no ``ledger.csv`` and ``claims.csv``, or empty ones, there is nothing to
    cover.

    Raises
    ------
    DataError
        They are about other printed cells, or other claims.
    """
    files = [folder / f"{name}.csv" for folder in (made, kept) for name in (LEDGER, CLAIMS)]
    if not all(path.exists() and path.stat().st_size for path in files):
        return True
    (old_cells, old_claims), (cells, claims) = _read(kept), _read(made)
    _same_rows(old_cells, cells, _CELL, "cells")
    _same_rows(old_claims, claims, ("id",), "claims")
    pairs = [
        (old.run, new.run)
        for old, new in zip(old_cells, cells, strict=True)
        if new.verdict != NOT_PRINTED  # nothing is decided, so that nothing need run
    ]
    for old, new in zip(old_claims, claims, strict=True):
        pairs += [(old.verdict, new.verdict), (old.as_published, new.as_published)]
    return all(new not in _WAITING or old in _WAITING for old, new in pairs)


def _read(folder: Path) -> tuple[list[Entry], list[Claim]]:
    return read_rows(folder / f"{LEDGER}.csv", Entry), read_rows(folder / f"{CLAIMS}.csv", Claim)


def _same_rows(
    older: Sequence[Any], newer: Sequence[Any], names: tuple[str, ...], what: str
) -> None:
    ours, theirs = ([[getattr(row, n) for n in names] for row in rows] for rows in (older, newer))
    if ours != theirs:
        raise DataError(f"the two snapshots list other {what}: make a whole one, without --extend")
