"""The records that ship, read once a process."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from deepcac_study.records.record_archive import read

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@cache
def shipped_records() -> Mapping[str, bytes]:
    """Return the bytes of each record by its path."""
    return read(RESULTS / "records")
