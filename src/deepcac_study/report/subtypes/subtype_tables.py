"""Tables of one run's subtypes: sizes, outcomes, medians, associations with risk and outcome."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import p_text
from deepcac_study.catalogue.entries import DataSet
from deepcac_study.records.runs import Run
from deepcac_study.report.data.restricted_counts import SMALL, WITHHELD, few_rows
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.subtypes.subtype_numbers import RiskFactors, UnseenRows, follows, middles

CERTAIN = 0.995  # a median risk above this is no estimate but a separation of the classes
_FACTORS = 6  # of each subtype's risk
_SHOWN = 12  # variables of the table
_LEVEL = 1.96  # standard errors of a 95 % interval


def page_id(run: Run) -> str:
    """Return the name of a run's page."""
    return f"subtypes_{run.dataset}_{run.method}_k{run.k}"


def who_table(run: Run, rows: UnseenRows, entry: DataSet, *, hidden: bool) -> Table:
    """Return a table of sizes and outcomes; with `hidden`, small counts are withheld."""
    parts = [rows.label[rows.cluster == j] == 1 for j in range(rows.k)]
    counts = np.array([[part.sum(), (~part).sum()] for part in parts])
    few = SMALL if hidden else 0
    no_size = few_rows(counts.sum(axis=1, keepdims=True), few)
    no_events = few_rows(counts, few) | no_size
    outcome = entry.positive or "of class 2"
    lines = zip(rows.names, counts.tolist(), no_size, no_events, rows.medians, strict=True)
    body = [
        text_row(
            name,
            WITHHELD if unsized else f"{sum(count):,}",
            WITHHELD if uncounted else f"{count[0]:,}",
            "" if uncounted or not sum(count) else f"{100 * count[0] / sum(count):.1f} %",
            _percent(risk),
        )
        for name, count, unsized, uncounted, risk in lines
    ]
    return declared_table("subtype_who", body, page=page_id(run), outcome=outcome)


def _percent(risk: float | None) -> str:
    """Format a risk in per cent, never as 0 or 100."""
    if risk is None:
        return ""
    if risk > CERTAIN:
        return "> 99.9 %"
    return "< 0.1 %" if risk < 1 - CERTAIN else f"{100 * risk:.1f} %"


def medians_table(run: Run, rows: UnseenRows, ordered: Sequence[str]) -> Table:
    """Return a table of the medians of every variable, in the given order."""
    parts = [rows.values, *(rows.values[rows.cluster == j] for j in range(rows.k))]
    medians = pd.concat([middles(part, rows.about["share"]) for part in parts], axis=1)
    body = []
    for key, line in zip(ordered, medians.loc[list(ordered)].to_numpy(), strict=True):
        name, unit, share = rows.known_of(key)
        body.append(text_row(name, unit, *(_value(value, share=share) for value in line)))
    return declared_table("subtype_medians", body, page=page_id(run), columns=rows.names)


def _value(value: float, *, share: bool) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.1f}" if share else f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def factors_table(run: Run, rows: UnseenRows) -> Table:
    """Return a table of the variables that correlate with the predicted risk in each subtype."""
    columns = []
    for inside in (rows.cluster == j for j in range(rows.k)):
        found = follows(rows.values[inside], rows.risk[inside]).sort_values(
            key=lambda r: -r.abs(), kind="stable"
        )[:_FACTORS]
        full = rows.about.loc[found.index, "name"]
        texts = [f"{name} ({r:+.2f})" for name, r in zip(full, found, strict=True)]
        columns.append([*texts, *[""] * (_FACTORS - len(texts))])
    body = [text_row(place + 1, *cells) for place, cells in enumerate(zip(*columns, strict=True))]
    return declared_table("subtype_factors", body, page=page_id(run), columns=rows.names)


def risk_table(run: Run, rows: UnseenRows, outcome: str, factors: RiskFactors) -> Table:
    """Return a table of the strongest risk factors with intervals, one column per subtype."""
    effects, errors = factors.effect.to_numpy(), factors.error.to_numpy()
    lines = zip(factors.p.items(), effects, errors, strict=True)
    body = [
        text_row(name, *map(_with_interval, effect, error), p_text(p))
        for (name, p), effect, error in lines
    ]
    words = {"page": page_id(run), "outcome": outcome, "columns": rows.names}
    return declared_table("subtype_risk", body[:_SHOWN], **words)


def _with_interval(effect: float, error: float) -> str:
    if not np.isfinite(effect):
        return ""
    half = _LEVEL * error
    return f"{effect:+.2f} [{effect - half:+.2f}, {effect + half:+.2f}]"


def differing(p: "pd.Series[float]") -> str:
    """Return a sentence on whether effects differ between subtypes, by p values and names."""
    tested = p.dropna()
    if tested.empty:
        return "Too few rows with the outcome to ask whether the subtypes have their own factors."
    clear = list(tested[tested < 0.05].index)
    if not clear:
        return (
            f"We found no variable, of {len(tested)}, that goes with the outcome differently in "
            "one subtype than in another."
        )
    listed = ", ".join(clear[:3]) + (f" and {len(clear) - 3} more" if len(clear) > 3 else "")
    many = f"{len(clear)} variables of {len(tested)} go" if clear[1:] else "One variable goes"
    return f"{many} with the outcome differently in one subtype than in another: {listed}."
