"""Ledgers and claims of runs that were made in several places, put together.

A cell that one run decides is that of the newer run. What several runs decide stays: a place that
has few of these runs would decide on those alone. Where the runs are the same ones, the newer rule
decides.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deepcac.errors import DataError
from deepcac_study.papers.claims import Claim
from deepcac_study.papers.evidence import NOT_RUN
from deepcac_study.papers.ledger import Entry, read_rows, write_rows
from deepcac_study.papers.summary import Count, summary

LEDGER, CLAIMS, SUMMARY = REPORT = ("ledger", "claims", "summary")

_CELL = ("paper", "table", "kind", "dataset", "method", "k", "item", "printed")
_OF_ONE_RUN = ("score", "alpha", "log")
_WAITING = ("", NOT_RUN)  # no run behind a cell; the verdict on a claim
_SOUND = ("sound", "sound_sd", "sound_verdict")
_PUBLISHED = ("as_published", "as_published_sd")


def extend_ledger(older: Sequence[Entry], newer: Sequence[Entry]) -> list[Entry]:
    """Return the older ledger with the cells that the newer one has decided.

    Cells of several runs stay as they were decided. A number that one of the two lacks is the
    other's. They must be about the same printed cells.
    """
    _same_rows(older, newer, _CELL, "cells")
    return [_cell(*pair) for pair in zip(older, newer, strict=True)]


def extend_claims(older: Sequence[Claim], newer: Sequence[Claim]) -> list[Claim]:
    """Return the older claims; what no run or the same runs decided there is as in the newer."""
    _same_rows(older, newer, ("id",), "claims")
    return [_claim(*pair) for pair in zip(older, newer, strict=True)]


def covers(made: Path, kept: Path) -> bool:
    """Say whether nothing in a report waits for a run that an older ledger and claims had.

    Where either folder has no ``ledger.csv`` and ``claims.csv``, or empty ones, there is nothing to
    cover.
    """
    files = [folder / f"{name}.csv" for folder in (made, kept) for name in (LEDGER, CLAIMS)]
    if not all(path.exists() and path.stat().st_size for path in files):
        return True
    (old_cells, old_claims), (cells, claims) = _read(kept), _read(made)
    _same_rows(old_cells, cells, _CELL, "cells")
    _same_rows(old_claims, claims, ("id",), "claims")
    pairs = [(old.run, new.run) for old, new in zip(old_cells, cells, strict=True)]
    for old, new in zip(old_claims, claims, strict=True):
        pairs += [(old.verdict, new.verdict), (old.as_published, new.as_published)]
    return all(new not in _WAITING or old in _WAITING for old, new in pairs)


def extend_report(made: Path, kept: Path) -> list[Path]:
    """Extend ledger and claims of a folder by those of a report; write them and a summary."""
    (old_cells, old_claims), (cells, claims) = _read(kept), _read(made)
    ledger, decided = extend_ledger(old_cells, cells), extend_claims(old_claims, claims)
    files = {name: kept / f"{name}.csv" for name in REPORT}
    write_rows(files[LEDGER], Entry, ledger)
    write_rows(files[CLAIMS], Claim, decided)
    write_rows(files[SUMMARY], Count, summary(ledger, decided))
    return list(files.values())


def _read(folder: Path) -> tuple[list[Entry], list[Claim]]:
    return read_rows(folder / f"{LEDGER}.csv", Entry), read_rows(folder / f"{CLAIMS}.csv", Claim)


def _cell(older: Entry, newer: Entry) -> Entry:
    stays = not newer.run or (older.run and older.kind not in _OF_ONE_RUN)
    first, second = (older, newer) if stays else (newer, older)
    for group in (_SOUND, _PUBLISHED):
        if not getattr(first, group[0]):
            first = replace(first, **{name: getattr(second, name) for name in group})
    return first


def _claim(older: Claim, newer: Claim) -> Claim:
    filled = replace(older, kind=newer.kind, same_as=newer.same_as)
    same = older.runs == newer.runs
    if older.verdict == NOT_RUN or (same and newer.verdict != NOT_RUN):
        filled = replace(filled, verdict=newer.verdict, reason=newer.reason, runs=newer.runs)
    if older.as_published == NOT_RUN or (same and newer.as_published != NOT_RUN):
        told = {
            "as_published": newer.as_published,
            "as_published_reason": newer.as_published_reason,
        }
        filled = replace(filled, **told, runs=filled.runs or newer.runs)
    return filled


def _same_rows(
    older: Sequence[Any], newer: Sequence[Any], names: tuple[str, ...], what: str
) -> None:
    ours, theirs = ([[getattr(row, n) for n in names] for row in rows] for rows in (older, newer))
    if ours != theirs:
        raise DataError(f"the two snapshots list other {what}: make a whole one, without --extend")
