"""Numbers of the subtypes of one run: one line a variable, over test rows the run never saw."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from deepcac.feature_matrix import FeatureMatrix
from deepcac.types import Array, Ids
from deepcac_study.features.columns.ranges import Range, variable_of
from deepcac_study.report.declarations import rows_of

FEWEST = 10  # rows behind a median, a difference or a correlation
_SHORT = 60  # letters of a name that fits a line
_SIGNS = {"10^3/uL": "10³/µL", "deg C": "°C"}  # units as people write them
_SUMMARIES = ("median", "first", "last")  # of several columns of a variable, the first there


@dataclass(frozen=True)
class SubtypeVariable:
    """One variable over the rows of a run."""

    # In full; the unit is ``%`` where the variable is yes or no.
    name: str
    unit: str
    values: Array  # NaN where it was not measured
    yes_or_no: bool = False  # whether its values are 0 and 1, shown as a share in %

    def middle(self, rows: npt.NDArray[np.bool_]) -> float:
        """Return its median among rows, or their share in percent; NaN for too few."""
        measured = self.values[rows & ~np.isnan(self.values)]
        if len(measured) < FEWEST:
            return float("nan")
        return float(100 * measured.mean() if self.yes_or_no else np.median(measured))

    def difference(self, rows: npt.NDArray[np.bool_]) -> float:
        """Return the mean of rows less that of the others, in standard deviations."""
        present = ~np.isnan(self.values)
        inside, rest = self.values[rows & present], self.values[~rows & present]
        if len(inside) < FEWEST or len(rest) < FEWEST:
            return float("nan")
        spread = np.sqrt((inside.var(ddof=1) + rest.var(ddof=1)) / 2)
        return float((inside.mean() - rest.mean()) / spread) if spread > 0 else 0.0

    def follows(self, risk: Array, rows: npt.NDArray[np.bool_]) -> float:
        """Return the rank correlation with a risk among rows; NaN for too few or equal values."""
        chosen = rows & ~np.isnan(self.values)
        if chosen.sum() < 2 * FEWEST:
            return float("nan")
        ranks, other = rankdata(self.values[chosen]), rankdata(risk[chosen])
        if np.ptp(ranks) == 0 or np.ptp(other) == 0:
            return float("nan")
        return float(np.corrcoef(ranks, other)[0, 1])


def variables(
    features: FeatureMatrix, rows: Ids, ranges: Mapping[str, Range]
) -> list[SubtypeVariable]:
    """Return one line a variable, of the rows with these places in the feature file."""
    by_name: dict[str, list[int]] = {}
    for place, name in enumerate(features.names):
        by_name.setdefault(name if "=" in name else variable_of(name), []).append(place)
    return [
        _variable(name, features, _chosen(features, places), rows, ranges)
        for name, places in by_name.items()
    ]


def _chosen(features: FeatureMatrix, places: list[int]) -> list[int]:
    """Return the columns that stand for a variable: its summary, or every hour of a sequence."""
    names = {features.names[place].rpartition("_")[2]: place for place in places}
    for summary in _SUMMARIES:
        if len(places) > 1 and summary in names:
            return [names[summary]]
    return places


def _variable(
    name: str, features: FeatureMatrix, places: list[int], rows: Ids, ranges: Mapping[str, Range]
) -> SubtypeVariable:
    block = features.X[rows[:, None], places]
    counts = np.maximum((~np.isnan(block)).sum(axis=1), 1)
    values = np.where(np.isnan(block).all(axis=1), np.nan, np.nansum(block, axis=1) / counts)
    measured = values[~np.isnan(values)]
    shared = bool(len(measured)) and bool(np.isin(measured, (0.0, 1.0)).all())
    entry = ranges.get(variable_of(name))
    unit = entry.unit if entry and entry.unit != "1" else ""
    unit = "%" if shared else _names().get(variable_of(name), ("", ""))[1] or _SIGNS.get(unit, unit)
    return SubtypeVariable(_full(name, entry, features.names[places[0]]), unit, values, shared)


@cache
def _names() -> dict[str, tuple[str, str]]:
    """Return names and units of variables whose table of ranges has none that fits a line."""
    rows = rows_of("variable_names.csv")
    return {row["variable"]: (row["name"], row["unit"]) for row in rows}


def _full(name: str, entry: Range | None, column: str) -> str:
    """Return a variable's full name, with the summary that stands for it."""
    stem, _, level = name.partition("=")
    meaning = entry.meaning if entry and len(entry.meaning) < _SHORT else ""
    stated = meaning if meaning != stem else ""
    plain = re.sub(r"_+", " ", stated or _names().get(stem, (stem, ""))[0])
    if level:
        return f"{plain}: {level}"
    part = column.rpartition("_")[2]
    return f"{plain}, {part}" if part in _SUMMARIES and column != name else plain


def explained(values: Array, cluster: Ids) -> float:
    """Return the share of the variance of ranks that lies between clusters (Kruskal-Wallis).

    Rows without a value do not count.
    """
    present = ~np.isnan(values)
    if present.sum() < 2 * FEWEST:
        return 0.0
    ranks, labels = rankdata(values[present]), cluster[present]
    spread = ((ranks - ranks.mean()) ** 2).sum()
    if spread == 0:
        return 0.0
    parts = [ranks[labels == label] for label in np.unique(labels)]
    between = sum(len(part) * (part.mean() - ranks.mean()) ** 2 for part in parts)
    return float(between / spread)
