"""Statistics of the subtypes of one run, one column per variable, over unseen test rows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from deepcac.feature_matrix import FeatureMatrix
from deepcac.scoring.statistics import holm
from deepcac.types import Array, Flags, Ids
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.features.columns.ranges import Range, read_ranges, variable_of
from deepcac_study.records.runs import Run
from deepcac_study.report.declarations import rows_of
from deepcac_study.report.runs.curves import unweighted_risk

FEWEST = 10  # rows behind a median, a difference or a correlation
_SHORT = 60  # letters of a name that fits a line
_SIGNS = {"10^3/uL": "10³/µL", "deg C": "°C"}  # units as people write them
_SUMMARIES = ("median", "first", "last")  # of several columns of a variable, the first there


@dataclass(frozen=True)
class UnseenRows:
    """The test rows of a run's first split, which were not used in its training."""

    cluster: Ids
    label: Ids
    # Predicted for class 1, without class weights where it is a probability.
    risk: Array
    values: pd.DataFrame  # one column per variable; NaN where it was not measured
    # By variable: ``name`` in full, ``unit``, and whether its values are 0 and 1 (``share``), shown
    # in %.
    about: pd.DataFrame
    k: int  # clusters asked for

    @property
    def names(self) -> list[str]:
        """Names of the subtypes."""
        return [f"subtype {j + 1}" for j in range(self.k)]

    def known_of(self, variable: str) -> tuple[str, str, bool]:
        """Return the row of `about`."""
        name, unit, share = self.about.loc[[variable], ["name", "unit", "share"]].to_numpy()[0]
        return str(name), str(unit), bool(share)

    @property
    def gives_probabilities(self) -> bool:
        """Whether the risks are probabilities, not decision values."""
        return bool(len(self.risk)) and 0 <= self.risk.min() <= self.risk.max() <= 1

    @property
    def medians(self) -> list[float | None]:
        """The median risk of each subtype; None with too few rows or without probabilities."""
        parts = [self.risk[self.cluster == j] for j in range(self.k)]
        probable = self.gives_probabilities
        return [float(np.median(p)) if probable and len(p) >= FEWEST else None for p in parts]


def first_split_test_rows(run: Run, features: FeatureMatrix, entry: DataSet) -> UnseenRows | None:
    """Return a run's test rows; None without scores, or if the run had other features."""
    table = run.scores(["row_id", "seed", "cluster", "label", "p_1"])
    if table is None:
        return None
    first = table["seed"].to_numpy() == run.splits[0]["seed"]
    ids, cluster, label, risk = (
        table[name].to_numpy()[first] for name in ("row_id", "cluster", "label", "p_1")
    )
    order = np.argsort(features.row_id)
    places = order[np.searchsorted(features.row_id, ids, sorter=order).clip(max=len(order) - 1)]
    if not np.array_equal(features.row_id[places], ids):
        return None
    ranges = read_ranges(entry.ranges) if entry.ranges else {}
    two = int(run.record.get("n_classes", 2)) == 2
    if two and len(risk) and 0 <= risk.min() <= risk.max() <= 1:
        risk = unweighted_risk(run, run.splits[0], risk)
    return UnseenRows(cluster, label, risk, *variable_values(features, places, ranges), run.k)


def variable_values(
    features: FeatureMatrix, rows: Ids, ranges: Mapping[str, Range]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `values` and `about` of `UnseenRows`, for the rows at these positions in a file."""
    by_name: dict[str, list[int]] = {}
    for place, name in enumerate(features.names):
        by_name.setdefault(name if "=" in name else variable_of(name), []).append(place)
    chosen = {name: _chosen(features, places) for name, places in by_name.items()}
    # Hours of a sequence are one variable: the mean of those that were measured.
    X = pd.DataFrame(features.X[rows])
    values = pd.DataFrame({name: X[places].mean(axis=1) for name, places in chosen.items()})
    about = {}
    for name, places in chosen.items():
        measured, variable = values[name].dropna(), variable_of(name)
        share = bool(len(measured)) and bool(measured.isin((0.0, 1.0)).all())
        entry = ranges.get(variable)
        unit = entry.unit if entry and entry.unit != "1" else ""
        unit = "%" if share else _names().get(variable, ("", ""))[1] or _SIGNS.get(unit, unit)
        about[name] = _full(name, entry, features.names[places[0]]), unit, share
    return values, pd.DataFrame.from_dict(about, "index", columns=["name", "unit", "share"])


def _chosen(features: FeatureMatrix, places: list[int]) -> list[int]:
    """Return the columns that represent a variable: its summary, or every hour of a sequence."""
    names = {features.names[place].rpartition("_")[2]: place for place in places}
    for summary in _SUMMARIES:
        if len(places) > 1 and summary in names:
            return [names[summary]]
    return places


@cache
def _names() -> dict[str, tuple[str, str]]:
    """Return names and units of variables for which the table of ranges has no short ones."""
    rows = rows_of("variable_names.csv")
    return {row["variable"]: (row["name"], row["unit"]) for row in rows}


def _full(name: str, entry: Range | None, column: str) -> str:
    """Return a variable's full name, with the summary that represents it."""
    stem, _, level = name.partition("=")
    meaning = entry.meaning if entry and len(entry.meaning) < _SHORT else ""
    stated = meaning if meaning != stem else ""
    plain = re.sub(r"_+", " ", stated or _names().get(stem, (stem, ""))[0])
    if level:
        return f"{plain}: {level}"
    part = column.rpartition("_")[2]
    return f"{plain}, {part}" if part in _SUMMARIES and column != name else plain


def middles(values: pd.DataFrame, share: "pd.Series[bool]") -> "pd.Series[float]":
    """Return medians, or percentages for values of 0 and 1; NaN for too few values."""
    middle = values.median().where(~share, 100 * values.mean())
    return middle.where(values.count() >= FEWEST)


def mean_differences(rows: UnseenRows) -> pd.DataFrame:
    """Return the mean of each subtype minus that of the other rows, in standard deviations."""
    gaps = {}
    for j, name in enumerate(rows.names):
        inside, rest = rows.values[rows.cluster == j], rows.values[rows.cluster != j]
        spread = np.sqrt((inside.var() + rest.var()) / 2)
        gap = ((inside.mean() - rest.mean()) / spread).where(spread > 0, 0.0)
        gaps[name] = gap.where(np.minimum(inside.count(), rest.count()) >= FEWEST)
    return pd.DataFrame(gaps)


def follows(values: pd.DataFrame, risk: Array) -> "pd.Series[float]":
    """Return rank correlations with a risk, of variables with enough distinct values."""
    if not len(risk) or np.ptp(risk) == 0:
        return pd.Series(dtype=float)
    varying = values.loc[:, (values.count() >= 2 * FEWEST) & (values.nunique() > 1)]
    return varying.corrwith(pd.Series(risk, values.index), method="spearman")


def explained(values: pd.DataFrame, cluster: Ids) -> "pd.Series[float]":
    """Return the shares of the variance of ranks that lie between clusters (Kruskal-Wallis).

    Missing values are ignored; the share is 0 with too few values.
    """
    ranks = values.rank()
    groups, spread = ranks.groupby(cluster), ((ranks - ranks.mean()) ** 2).sum()
    between = (groups.count() * (groups.mean() - ranks.mean()) ** 2).sum()
    return (between / spread).where((spread > 0) & (values.count() >= 2 * FEWEST), 0.0)


def standardised(values: pd.DataFrame, cases: Flags) -> "tuple[pd.Series[float], pd.Series[float]]":
    """Return the mean of cases minus that of the others, in standard deviations, and its error.

    NaN with fewer than 10 measured rows on a side, or without any spread. The error is that of
    Hedges 1981.
    """
    inside, outside = values[cases], values[~cases]
    n, m = inside.count(), outside.count()
    spread = np.sqrt(((n - 1) * inside.var() + (m - 1) * outside.var()) / (n + m - 2))
    estimable = (spread > 0) & (np.minimum(n, m) >= FEWEST)
    effect = ((inside.mean() - outside.mean()) / spread).where(estimable)
    return effect, np.sqrt((n + m) / (n * m) + effect**2 / (2 * (n + m)))


def same_everywhere(effect: pd.DataFrame, error: pd.DataFrame) -> Array:
    """Return the p value of Cochran's Q (1954) for equal effects within each row.

    NaN for fewer than two.
    """
    weight, n_effects = error**-2.0, effect.notna().sum(axis=1)
    mean = (weight * effect).sum(axis=1) / weight.sum(axis=1)
    spread = (weight * effect.sub(mean, axis=0) ** 2).sum(axis=1)
    return np.where(n_effects < 2, np.nan, stats.chi2.sf(spread, n_effects - 1))


class RiskFactors(NamedTuple):
    """Association with the outcome inside each subtype, a row per variable, the strongest first.

    Attributes
    ----------
    effect, error : DataFrame
        Effect and standard error by variable and subtype (`standardised`).
    p : Series
        Test of equal effects in all subtypes, Holm-adjusted; NaN for fewer than two.
    """

    effect: pd.DataFrame
    error: pd.DataFrame
    p: "pd.Series[float]"


def risk_factors(rows: UnseenRows) -> RiskFactors:
    """Return every variable with a known effect in some subtype."""
    parts = [rows.cluster == j for j in range(rows.k)]
    pairs = [standardised(rows.values[part], rows.label[part] == 1) for part in parts]
    effect, error = (
        pd.DataFrame(dict(zip(rows.names, row, strict=True))) for row in zip(*pairs, strict=True)
    )
    strength = (effect.abs() / error).max(axis=1).to_numpy()
    order = [place for place in np.argsort(-strength, kind="stable") if strength[place] >= 0]
    effect, error = (table.set_axis(rows.about["name"]).iloc[order] for table in (effect, error))
    p = pd.Series(holm(same_everywhere(effect, error)), effect.index)
    return RiskFactors(effect, error, p)
