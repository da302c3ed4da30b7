"""The tables that ship with the project, as they are read: what was never run has none."""

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def kept_table(
    folder: str | os.PathLike[str], name: str, columns: Sequence[str] = ()
) -> pd.DataFrame:
    """Return ``folder/name.csv``; a table without rows, with some columns, where there is none."""
    path = Path(folder) / f"{name}.csv"
    there = path.exists() and path.stat().st_size
    return pd.read_csv(path) if there else pd.DataFrame(columns=list(columns))
