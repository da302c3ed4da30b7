"""Ledgers and claims of runs that were made in several places, put together.

A cell that one run decides is that of the newer run. What several runs decide stays unless all
of it is decided anew: a place that has few of these runs would decide on those alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deepcac.errors import DataError
from deepcac.papers import claims as claim_file
from deepcac.papers import ledger as ledger_file
from deepcac.papers import summary as summary_file
from deepcac.papers.claims import Claim
from deepcac.papers.evidence import NOT_RUN
from deepcac.papers.ledger import Entry

LEDGER, CLAIMS, SUMMARY = REPORT = ("ledger", "claims", "summary")

_CELL = ("paper", "table", "kind", "dataset", "method", "k", "item", "printed")
_OF_ONE_RUN = ("score", "alpha", "log")
_WAITING = ("", NOT_RUN)  # no run behind a cell; the verdict on a claim
_SOUND = ("sound", "sound_sd", "sound_verdict")
_PUBLISHED = ("as_published", "as_published_sd")


def extend_ledger(older: Sequence[Entry], newer: Sequence[Entry]) -> list[Entry]:
    """Return the older ledger with the cells that the newer one has decided.

    Cells of several runs stay as they were decided, unless no cell of the newer ledger waits for
    a run that the older one had. A number that one of the two lacks is the other's.

    Raises
    ------
    DataError
        If the two are not about the same printed cells.
    """
    _same_rows(older, newer, _CELL, "cells")
    if _covers(older, newer, "run"):
        return list(newer)
    return [_cell(*pair) for pair in zip(older, newer, strict=True)]


def extend_claims(older: Sequence[Claim], newer: Sequence[Claim]) -> list[Claim]:
    """Return the older claims; what no run had decided there is decided as in the newer ones.

    The newer ones, if none of them waits for a run that the older ones had.

    Raises
    ------
    DataError
        If the two are not about the same claims.
    """
    _same_rows(older, newer, ("id",), "claims")
    if _covers(older, newer, "verdict") and _covers(older, newer, "as_published"):
        return list(newer)
    return [_claim(*pair) for pair in zip(older, newer, strict=True)]


def extend_report(made: Path, kept: Path) -> list[Path]:
    """Extend the ledger and the claims of a folder by those of a report, and count them anew.

    Parameters
    ----------
    made : Path
        Folder of a report.
    kept : Path
        Folder with ``ledger.csv`` and ``claims.csv``, which are written anew, with the summary.

    Returns
    -------
    list of Path
        What was written.
    """
    files = {name: kept / f"{name}.csv" for name in REPORT}
    ledger = extend_ledger(
        *(ledger_file.read(folder / files[LEDGER].name) for folder in (kept, made))
    )
    claims = extend_claims(
        *(claim_file.read(folder / files[CLAIMS].name) for folder in (kept, made))
    )
    ledger_file.write(files[LEDGER], ledger)
    claim_file.write(files[CLAIMS], claims)
    summary_file.write(files[SUMMARY], summary_file.summary(ledger, claims))
    return list(files.values())


def _covers(older: Sequence[Any], newer: Sequence[Any], column: str) -> bool:
    """Say whether no newer row waits for a run that the older one had."""
    pairs = [
        (getattr(old, column), getattr(new, column)) for old, new in zip(older, newer, strict=True)
    ]
    return all(new not in _WAITING or old in _WAITING for old, new in pairs)


def _cell(older: Entry, newer: Entry) -> Entry:
    stays = not newer.run or (older.run and older.kind not in _OF_ONE_RUN)
    first, second = (older, newer) if stays else (newer, older)
    for group in (_SOUND, _PUBLISHED):
        if not getattr(first, group[0]):
            first = replace(first, **{name: getattr(second, name) for name in group})
    return first


def _claim(older: Claim, newer: Claim) -> Claim:
    filled = older
    if older.verdict == NOT_RUN:
        filled = replace(filled, verdict=newer.verdict, reason=newer.reason, runs=newer.runs)
    if older.as_published == NOT_RUN:
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
