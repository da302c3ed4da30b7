"""One long table of all measurements, which the rules of the claims query.

A row is one measurement: the scores of a run on one split, a pass of a fit, a point of a sweep, an
inequality of a theorem, a timed training. `source`, `protocol`, `dataset`, `method`, `k`, `seed`
and `path` identify it. Measured values are in further columns, which are empty in rows of other
sources.
"""

from functools import cached_property

import numpy as np
import pandas as pd

from deepcac.types import Floats
from deepcac_study.catalogue.registry import DEMO
from deepcac_study.papers.names import paper_datasets
from deepcac_study.records.runs import reported

RunKey = tuple[str, str, str, int]
_OPEN_DEMO = "_demo"  # the open part of restricted data, such as ``ards_demo``


class Scores:
    """The long table, by source and by run."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        self._sources: dict[tuple[str, str], pd.DataFrame] = {}

    def source(self, name: str, protocol: str = "") -> pd.DataFrame:
        """Return the rows of a source, or of one of its protocols, with its non-empty columns."""
        if (name, protocol) not in self._sources:
            rows = self.source(name) if protocol else self.table
            column, value = ("protocol", protocol) if protocol else ("source", name)
            rows = rows[rows[column] == value]
            filled = rows.dropna(axis="columns", how="all") if len(rows) else rows
            self._sources[name, protocol] = filled.infer_objects()
        return self._sources[name, protocol]

    @cached_property
    def runs(self) -> dict[RunKey, "Splits"]:
        """The splits of each run by protocol, data set, method and k."""
        rows = self.source("runs")
        if rows.empty:
            return {}
        columns = {name: rows[name].to_numpy() for name in rows}
        groups = rows.groupby(["protocol", "dataset", "method", "k"], sort=False).indices
        return {
            key: Splits({str(name): values[place] for name, values in columns.items()})  # type: ignore[misc]
            for key, place in groups.items()
        }

    @cached_property
    def of_data(self) -> dict[tuple[str, str], "Splits"]:
        """The first run by protocol and data set, for properties of the data."""
        by_data: dict[tuple[str, str], Splits] = {}
        for (protocol, dataset, *_), run in self.runs.items():
            by_data.setdefault((protocol, dataset), run)
        return by_data

    def of_the_papers(self) -> "Scores":
        """Return the measurements on the papers' data; no others count for or against them."""
        rows = self.table
        original = rows["dataset"].isin(paper_datasets()) & (rows["synthetic"] == 0)
        return Scores(rows[original | rows["synthetic"].isna()])

    def of_stand_ins(self) -> "Scores":
        """Return the measurements on stand-ins for the papers' data, under the ids of these data.

        Stand-ins are generated tables (``demo_*``) and the open demo of restricted data, but not
        the synthetic grid and Synth, as the papers generated theirs too. If two runs get the same
        id, the first is kept.
        """
        rows = self.table[self.table["synthetic"].notna()]
        names = rows["dataset"].str.removeprefix(DEMO).str.removesuffix(_OPEN_DEMO)
        stand_in = (rows["synthetic"] == 1) | (names != rows["dataset"])
        rows = rows.assign(dataset=names)[stand_in & names.isin(paper_datasets())]
        place = ["source", "protocol", "dataset", "method", "k"]
        first = rows.groupby(place, sort=False, dropna=False)["path"].transform("first")
        return Scores(rows[(rows["path"] == first) | rows["method"].isna()])


class Splits(dict[str, np.ndarray]):
    """The rows of one run: arrays by column, with one value per split."""

    @property
    def status(self) -> str:
        """``ok``, ``diverged`` or ``timeout``."""
        return str(self["status"][0])

    @property
    def path(self) -> str:
        """Path of the record."""
        return str(self["path"][0])

    def values(self, metric: str) -> Floats:  # type: ignore[override]
        """Return the value of each split; an empty array if any split lacks it."""
        values = self.get(metric, np.array([np.nan])).astype(np.float64)
        return values if not np.isnan(values).any() else np.empty(0)

    def reported(self, metric: str, paper: str) -> Floats:
        """Return the values of the metric behind a paper's number of this name (`Run.reported`)."""
        n_classes, macro = int(self["n_classes"][0]), bool(self["macro"][0])
        return self.values(reported(metric, paper, n_classes, macro=macro))
