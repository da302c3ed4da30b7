"""Tables of one run's subtypes: sizes, outcomes, medians, what risk and outcome go with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.feature_matrix import FeatureMatrix
from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.wording import p_text
from deepcac.scoring.statistics import holm
from deepcac.types import Array, Ids
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.features.columns.ranges import read_ranges
from deepcac_study.records.runs import Run
from deepcac_study.report.data.restricted_counts import WITHHELD, withheld, withheld_parts
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.runs.curves import unweighted_risk
from deepcac_study.report.subtypes.subtype_numbers import FEWEST, SubtypeVariable, variables

CERTAIN = 0.995  # a median risk above this is no estimate but a separation of the classes
_FACTORS = 6  # of each subtype's risk
_SHOWN = 12  # variables of the table
_LEVEL = 1.96  # standard errors of a 95 % interval


@dataclass(frozen=True)
class UnseenRows:
    """The test rows of a run's first split, which it has not learned from."""

    cluster: Ids
    label: Ids
    # Predicted for class 1, without class weights where it is a probability.
    risk: Array
    variables: list[SubtypeVariable]
    k: int  # clusters asked for

    @property
    def gives_probabilities(self) -> bool:
        """Whether the risks are shares, and no decision values."""
        return bool(len(self.risk)) and 0 <= self.risk.min() <= self.risk.max() <= 1

    @property
    def medians(self) -> list[float | None]:
        """The median risk of each subtype; None for too few rows or without probabilities."""
        parts = [self.risk[self.cluster == j] for j in range(self.k)]
        probable = self.gives_probabilities
        return [float(np.median(p)) if probable and len(p) >= FEWEST else None for p in parts]


def page_id(run: Run) -> str:
    """Return the name of a run's page."""
    return f"subtypes_{run.dataset}_{run.method}_k{run.k}"


def unseen_rows(run: Run, features: FeatureMatrix, entry: DataSet) -> UnseenRows | None:
    """Return a run's test rows; None without scores, or if it was made from other features."""
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
    return UnseenRows(cluster, label, risk, variables(features, places, ranges), run.k)


def names(rows: UnseenRows) -> list[str]:
    """Return the subtypes' names."""
    return [f"subtype {j + 1}" for j in range(rows.k)]


def who_table(run: Run, rows: UnseenRows, entry: DataSet, *, hidden: bool) -> Table:
    """Return sizes and outcomes; small counts of restricted data are left out."""
    sizes: list[int | None] = [int((rows.cluster == j).sum()) for j in range(rows.k)]
    events: list[int | None] = [
        int(((rows.cluster == j) & (rows.label == 1)).sum()) for j in range(rows.k)
    ]
    if hidden:
        sizes = withheld_parts(sizes)
        pairs = zip(events, sizes, strict=True)
        events = withheld_parts([withheld(e or 0, n) if n else None for e, n in pairs])
    outcome = entry.positive or "of class 2"
    body = [
        text_row(
            name,
            WITHHELD if size is None else f"{size:,}",
            WITHHELD if event is None else f"{event:,}",
            f"{100 * event / size:.1f} %" if size and event is not None else "",
            _percent(risk),
        )
        for name, size, event, risk in zip(names(rows), sizes, events, rows.medians, strict=True)
    ]
    return declared_table("subtype_who", body, page=page_id(run), outcome=outcome)


def _percent(risk: float | None) -> str:
    """Return a risk in per cent; no risk is written as certain."""
    if risk is None:
        return ""
    if risk > CERTAIN:
        return "> 99.9 %"
    return "< 0.1 %" if risk < 1 - CERTAIN else f"{100 * risk:.1f} %"


def medians_table(run: Run, rows: UnseenRows, ordered: Sequence[SubtypeVariable]) -> Table:
    """Return the medians of every variable, in the order given."""
    everyone = np.ones(len(rows.cluster), dtype=bool)
    parts = [everyone, *(rows.cluster == j for j in range(rows.k))]
    body = [
        text_row(v.name, v.unit, *(_value(v.middle(part), share=v.yes_or_no) for part in parts))
        for v in ordered
    ]
    return declared_table("subtype_medians", body, page=page_id(run), columns=names(rows))


def _value(value: float, *, share: bool) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.1f}" if share else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def factors_table(run: Run, rows: UnseenRows) -> Table:
    """Return what the predicted risk follows inside each subtype."""
    columns = []
    for j in range(rows.k):
        inside = rows.cluster == j
        follows = [(v.follows(rows.risk, inside), v.name) for v in rows.variables]
        strong = sorted((pair for pair in follows if pair[0] == pair[0]), key=lambda p: -abs(p[0]))
        columns.append([f"{name} ({r:+.2f})" for r, name in strong[:_FACTORS]])
    body = [
        [Cell(str(place + 1)), *(Cell(c[place] if place < len(c) else "") for c in columns)]
        for place in range(_FACTORS)
    ]
    return declared_table("subtype_factors", body, page=page_id(run), columns=names(rows))


@dataclass(frozen=True)
class RiskFactor:
    """How far rows with the outcome lie from the others in one variable, inside each subtype."""

    name: str
    # A subtype each: difference of means in standard deviations; NaN for too few rows.
    effect: Array
    error: Array
    # That all have the same effect, Holm-adjusted over the variables; NaN for fewer than two.
    p: float

    @property
    def strength(self) -> float:
        """The largest effect, in standard errors."""
        ratio = np.abs(self.effect) / self.error
        return float(np.nanmax(ratio)) if np.isfinite(ratio).any() else 0.0


def standardised(values: Array, cases: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the mean of cases less that of the others, in standard deviations, and its error.

    NaN with fewer than 10 measured rows on a side, or without any spread. The error is that of
    Hedges 1981.
    """
    present = ~np.isnan(values)
    with_outcome, other = values[present & cases], values[present & ~cases]
    n, m = len(with_outcome), len(other)
    if min(n, m) < FEWEST:
        return np.nan, np.nan
    spread = np.sqrt(
        ((n - 1) * with_outcome.var(ddof=1) + (m - 1) * other.var(ddof=1)) / (n + m - 2)
    )
    if spread == 0:
        return np.nan, np.nan
    effect = float((with_outcome.mean() - other.mean()) / spread)
    return effect, float(np.sqrt((n + m) / (n * m) + effect**2 / (2 * (n + m))))


def same_everywhere(effect: Array, error: Array) -> float:
    """Return p of Cochran's Q (1954) that all known effects are equal; NaN for fewer than two."""
    finite = np.isfinite(effect) & np.isfinite(error)
    if finite.sum() < 2:
        return float("nan")
    weight = error[finite] ** -2.0
    mean = (weight * effect[finite]).sum() / weight.sum()
    spread = float((weight * (effect[finite] - mean) ** 2).sum())
    return float(stats.chi2.sf(spread, finite.sum() - 1))


def risk_factors(rows: UnseenRows) -> list[RiskFactor]:
    """Return every variable with a known effect in some subtype, the strongest first."""
    tested = [(v, *_effects(v, rows)) for v in rows.variables]
    tested = [entry for entry in tested if np.isfinite(entry[1]).any()]
    p = holm([same_everywhere(effect, error) for _, effect, error in tested])
    factors = [
        RiskFactor(v.name, effect, error, float(adjusted))
        for (v, effect, error), adjusted in zip(tested, p, strict=True)
    ]
    return sorted(factors, key=lambda factor: -factor.strength)


def _effects(variable: SubtypeVariable, rows: UnseenRows) -> tuple[Array, Array]:
    pairs = [
        standardised(variable.values[members], rows.label[members] == 1)
        for members in (rows.cluster == j for j in range(rows.k))
    ]
    effect, error = np.array(pairs).T
    return effect, error


def risk_table(run: Run, rows: UnseenRows, outcome: str, factors: Sequence[RiskFactor]) -> Table:
    """Return the strongest factors with their intervals, one column a subtype."""
    body = [
        text_row(factor.name, *map(_with_interval, factor.effect, factor.error), p_text(factor.p))
        for factor in factors[:_SHOWN]
    ]
    return declared_table(
        "subtype_risk", body, page=page_id(run), outcome=outcome, columns=names(rows)
    )


def _with_interval(effect: float, error: float) -> str:
    if not np.isfinite(effect):
        return ""
    half = _LEVEL * error
    return f"{effect:+.2f} [{effect - half:+.2f}, {effect + half:+.2f}]"


def differing(factors: Sequence[RiskFactor]) -> str:
    """Say in a sentence whether the subtypes have risk factors of their own."""
    tested = [factor for factor in factors if np.isfinite(factor.p)]
    if not tested:
        return "Too few rows with the outcome to ask whether the subtypes have their own factors."
    clear = [factor.name for factor in tested if factor.p < 0.05]
    if not clear:
        return (
            f"We found no variable, of {len(tested)}, that goes with the outcome differently in "
            "one subtype than in another."
        )
    listed = ", ".join(clear[:3]) + (f" and {len(clear) - 3} more" if len(clear) > 3 else "")
    many = f"{len(clear)} variables of {len(tested)} go" if clear[1:] else "One variable goes"
    return f"{many} with the outcome differently in one subtype than in another: {listed}."
