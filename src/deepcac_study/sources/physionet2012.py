"""PhysioNet / Computing in Cardiology Challenge 2012: raw files to tidy tables.

Each of the sets a, b and c is an archive with one file per ICU stay and a file ``Outcomes-x.txt``
with one line per stay (Silva et al., Computing in Cardiology 2012).
"""

import os
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import write_table
from deepcac_study.sources.physionet2012_events import read_set

OUTCOMES = ("SAPS-I", "SOFA", "Length_of_stay", "Survival", "In-hospital_death")
OUTCOMES_HEADER = ",".join(("RecordID", *OUTCOMES))

_Path = str | os.PathLike[str]


def read_outcomes(path: _Path, letter: str) -> pa.Table:
    """Read one ``Outcomes-x.txt``: ``record_id``, ascending, ``set``, and the five of `OUTCOMES`.

    Numbers are int32; the file's code -1 for unknown is kept (in ``Survival`` also for stays
    without a recorded death). An unexpected header, number or death flag, and a repeated record,
    are a `DataError`.
    """
    try:
        header, *body = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as text with a header ({error})") from error
    if header != OUTCOMES_HEADER:
        raise DataError(f"{path} line 1 is {header[:80]!r}; {OUTCOMES_HEADER!r} was expected")
    rows = []
    for number, line in enumerate(body, start=2):
        fields = line.split(",")
        if len(fields) != 6 or not all(re.fullmatch(r"-?\d{1,9}", field) for field in fields):
            raise DataError(f"{path} line {number} ({line[:80]!r}): not six whole numbers")
        if fields[5] not in ("0", "1"):
            raise DataError(f"{path} line {number}: In-hospital_death is {fields[5]}, not 0 or 1")
        rows.append([int(field) for field in fields])
    rows.sort()
    for (before, *_), (record_id, *_) in pairwise(rows):
        if before == record_id:
            raise DataError(f"{path}: record {record_id} occurs twice")
    columns = np.array(rows, dtype=np.int32).reshape(-1, 6)
    return pa.table(
        {"record_id": columns[:, 0], "set": [letter] * len(rows)}
        | {name: columns[:, j] for j, name in enumerate(OUTCOMES, start=1)}
    )


def _match(archive: _Path, events: pa.Table, path: _Path, outcomes: pa.Table) -> None:
    """Raise `DataError` unless a set's files and outcome lines have the same records."""
    files, rows = np.unique(events["record_id"]), outcomes["record_id"].to_numpy()
    for missing in np.setdiff1d(files, rows)[:1]:
        raise DataError(f"{path}: no line for record {missing}, which {archive} holds")
    for missing in np.setdiff1d(rows, files)[:1]:
        raise DataError(f"{archive}: no events of record {missing}, which {path} lists")


def read_sets(archives: Mapping[str, _Path], *, threads: int = 1) -> list[pa.Table]:
    """Return `read_set` of each set's ``set-x.archive``, `threads` archives in memory at once.

    Unpacking and parsing release the interpreter's lock, so threads help.
    """
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(read_set, archives.values()))


def extract(
    archives: Mapping[str, _Path],
    outcomes: Mapping[str, _Path],
    *,
    events_path: _Path,
    outcomes_path: _Path,
    threads: int = 1,
) -> None:
    """Turn the raw files of each set into ``events.parquet`` and ``outcomes.parquet``.

    These are the tables of `read_set` and `read_outcomes`, the sets one after the other. Raw files
    not in the format, or that do not fit each other, are a `DataError`.
    """
    stays = [read_outcomes(outcomes[letter], letter) for letter in archives]
    events = read_sets(archives, threads=threads)
    for letter, set_events, set_stays in zip(archives, events, stays, strict=True):
        _match(archives[letter], set_events, outcomes[letter], set_stays)
    table = pa.concat_tables(stays)
    record_id, count = np.unique(table["record_id"], return_counts=True)
    for twice in record_id[count > 1][:1]:
        raise DataError(f"record {twice} is in more than one set of {', '.join(outcomes)}")
    write_table(events_path, pa.concat_tables(events).combine_chunks())
    write_table(outcomes_path, table.combine_chunks())
