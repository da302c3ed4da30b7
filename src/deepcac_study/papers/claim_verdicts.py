"""What may become of a claim."""

from typing import NamedTuple

import pandas as pd

VERDICTS = {
    "holds": "holds",
    "partly": "partly",
    "fails": "fails",
    "cannot_hold": "cannot hold",
    "undecided": "undecided",
    "toy": "toy",
    "not_decidable": "not decidable",
    "not_rebuildable": "data not rebuildable",
    "not_run": "not run",
}
HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED, TOY, NOT_DECIDABLE, LOST, NOT_RUN = VERDICTS.values()


class Outcome(NamedTuple):
    """What a check finds in some rows."""

    verdict: str
    figures: str  # the numbers that decided, or what is missing
    rows: pd.DataFrame | None = None  # those that decided, where it is not all
    note: str = ""  # what else it does not tell, after the data that were left out


class Decision(NamedTuple):
    """What the runs say about a claim."""

    verdict: str  # one of `VERDICTS`
    reason: str  # one sentence with the numbers that decided, or with what is missing
    runs: tuple[str, ...] = ()  # paths of the runs that decide
