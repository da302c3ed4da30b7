"""The comparisons of transfer, scorecards and richer labels, from their records."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from deepcac_study.judge.further.further_tables import richer_table, scorecard_table, transfer_table
from deepcac_study.judge.study_files import FOLDER, FURTHER, RICHER, SCORECARDS, TRANSFER
from deepcac_study.report.kept.run_snapshot import open_records

MOVES, CARDED, LABELLED = (f"judge_{part}" for part in (TRANSFER, SCORECARDS, RICHER))
DECIDED = (MOVES, CARDED, LABELLED)
_READ: dict[str, Callable[[Iterable[Path]], pd.DataFrame]] = {
    MOVES: transfer_table,
    CARDED: scorecard_table,
    LABELLED: richer_table,
}


def further_rows(results: Path) -> dict[str, pd.DataFrame]:
    """Return the comparisons of a folder ``results``, not decided yet; empty where nothing ran."""
    places = zip(DECIDED, FURTHER, strict=True)
    study = Path(FOLDER).name
    return {
        name: _READ[name](open_records(results, f"{study}/{part}/*.json")) for name, part in places
    }
