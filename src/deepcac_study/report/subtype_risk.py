"""Which variables go with the outcome inside each subtype, and whether subtypes differ in that."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.pages.tables import Table, text_row
from deepcac.scoring.statistics import holm
from deepcac_study.experiments.finished import Run
from deepcac_study.report.effecttables import p_text
from deepcac_study.report.subtype_numbers import FEWEST, Array, Variable
from deepcac_study.report.subtype_tables import UnseenRows, names, page_id

_SHOWN = 12  # variables of the table
_LEVEL = 1.96  # standard errors of a 95 % interval


@dataclass(frozen=True)
class RiskFactor:
    """How far rows with the outcome lie from the others in one variable, inside each subtype.

    Attributes
    ----------
    name : str
    effect, error : ndarray of shape (k,)
        Difference of means in standard deviations and its standard error; NaN for too few rows.
    p : float
        That all subtypes have the same effect, Holm-adjusted over the variables; NaN where fewer
        than two have one.
    """

    name: str
    effect: Array
    error: Array
    p: float

    @property
    def strength(self) -> float:
        """The largest effect, in standard errors."""
        ratio = np.abs(self.effect) / self.error
        return float(np.nanmax(ratio)) if np.isfinite(ratio).any() else 0.0


def standardised(values: Array, cases: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the mean of cases less that of the others, in standard deviations, and its error.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where not measured.
    cases : ndarray of shape (n,), bool

    Returns
    -------
    effect, error : float
        NaN with fewer than 10 measured rows on a side, or without any spread.

    References
    ----------
    Hedges 1981, on the standard error of a standardised difference.
    """
    known = ~np.isnan(values)
    one, other = values[known & cases], values[known & ~cases]
    n, m = len(one), len(other)
    if min(n, m) < FEWEST:
        return np.nan, np.nan
    spread = np.sqrt(((n - 1) * one.var(ddof=1) + (m - 1) * other.var(ddof=1)) / (n + m - 2))
    if spread == 0:
        return np.nan, np.nan
    effect = float((one.mean() - other.mean()) / spread)
    return effect, float(np.sqrt((n + m) / (n * m) + effect**2 / (2 * (n + m))))


def same_everywhere(effect: Array, error: Array) -> float:
    """Return the p value of Cochran's Q that all known effects are equal; NaN for fewer than two.

    References
    ----------
    Cochran 1954.
    """
    known = np.isfinite(effect) & np.isfinite(error)
    if known.sum() < 2:
        return float("nan")
    weight = error[known] ** -2.0
    mean = (weight * effect[known]).sum() / weight.sum()
    spread = float((weight * (effect[known] - mean) ** 2).sum())
    return float(stats.chi2.sf(spread, known.sum() - 1))


def risk_factors(rows: UnseenRows) -> list[RiskFactor]:
    """Return every variable with a known effect in some subtype, the strongest first."""
    found = [(v, *_effects(v, rows)) for v in rows.found]
    found = [one for one in found if np.isfinite(one[1]).any()]
    p = holm([same_everywhere(effect, error) for _, effect, error in found])
    factors = [
        RiskFactor(v.name, effect, error, float(own))
        for (v, effect, error), own in zip(found, p, strict=True)
    ]
    return sorted(factors, key=lambda one: -one.strength)


def _effects(variable: Variable, rows: UnseenRows) -> tuple[Array, Array]:
    pairs = [
        standardised(variable.values[own], rows.label[own] == 1)
        for own in (rows.cluster == j for j in range(rows.k))
    ]
    effect, error = np.array(pairs).T
    return effect, error


def risk_table(run: Run, rows: UnseenRows, outcome: str, factors: Sequence[RiskFactor]) -> Table:
    """Return the strongest factors with their intervals, one column a subtype."""
    body = [
        text_row(one.name, *map(_with_interval, one.effect, one.error), p_text(one.p))
        for one in factors[:_SHOWN]
    ]
    return Table(
        id=f"{page_id(run)}_risk",
        title="What goes with the outcome inside each subtype",
        note=f"How far the rows with the outcome ({outcome}) lie from the others in a variable, in "
        "standard deviations, with 95 % intervals; + means higher values. Each variable alone, "
        "not a cause. Empty: fewer than 10 rows on a side. The last column asks whether the "
        "subtypes differ in this (p of Cochran's Q, Holm-adjusted over all variables).",
        head=("variable", *names(rows), "p that they are the same"),
        rows=body,
        mixed=True,
    )


def _with_interval(effect: float, error: float) -> str:
    if not np.isfinite(effect):
        return ""
    half = _LEVEL * error
    return f"{effect:+.2f} [{effect - half:+.2f}, {effect + half:+.2f}]"


def differing(factors: Sequence[RiskFactor]) -> str:
    """Say in a sentence whether the subtypes have risk factors of their own."""
    tested = [one for one in factors if np.isfinite(one.p)]
    if not tested:
        return "Too few rows with the outcome to ask whether the subtypes have their own factors."
    clear = [one.name for one in tested if one.p < 0.05]
    if not clear:
        return (
            f"No variable of {len(tested)} is shown to go with the outcome differently in one "
            "subtype than in another."
        )
    listed = ", ".join(clear[:3]) + (f" and {len(clear) - 3} more" if len(clear) > 3 else "")
    many = f"{len(clear)} variables of {len(tested)} go" if clear[1:] else "One variable goes"
    return f"{many} with the outcome differently in one subtype than in another: {listed}."
