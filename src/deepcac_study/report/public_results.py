"""Results that others printed for the published divisions."""

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Printed(NamedTuple):
    """One printed score.

    Attributes
    ----------
    dataset, train, test : str
        The division: the groups learnt from, joined by a space, and the group tested on.
    metric : str
        As in the records.
    value : float
    who, source : str
        Whose score it is, and where it is printed.
    """

    dataset: str
    train: str
    test: str
    metric: str
    value: float
    who: str
    source: str


@cache
def printed_results() -> tuple[Printed, ...]:
    """Return every printed score of ``public_results.csv``."""
    file = resources.files("deepcac_study.report") / "public_results.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return tuple(_printed(row) for row in rows)


def _printed(row: dict[str, str]) -> Printed:
    value = float(row.pop("value"))
    return Printed(value=value, **row)
