"""Checks of claims on tuned alphas: printed cells against our numbers."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from deepcac.scoring.equivalence import LEVEL
from deepcac.scoring.statistics import holm
from deepcac_study.papers.agreement import AGREE, DIFFER, LOST
from deepcac_study.papers.claim_verdicts import NOT_RUN, Outcome, Truth, counts_in_words, settled
from deepcac_study.papers.names import restricted
from deepcac_study.papers.rules.rule import ClaimRule


def agree(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether our numbers agree with all printed cells; cells not run are open."""
    return _of_cells(rows, rows["sound_verdict"] == AGREE, lambda _: 1.0, "as printed")


def at_most(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether tuned alphas lie between 0 and the threshold."""
    (limit,) = rule.numbers
    return _of_cells(rows, rows["sound"].between(0, limit), rule.share, f"at most {limit:g}")


def printed_at_most(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the claimed share of printed alphas lies between 0 and the threshold."""
    (limit,) = rule.numbers
    near: list[Truth] = [0 <= float(alpha) <= limit for alpha in rows["printed"]]
    figures = f"{counts_in_words(near)} printed alphas: at most {limit:g}"
    if not near:
        return Outcome(NOT_RUN, figures)
    return Outcome(settled(near, rule.share(len(near))), figures)


def differ(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether tuned alphas of some two data sets differ, by Wilcoxon's signed ranks.

    The classifiers are the pairs; Holm's correction is over the pairs of data sets.
    """
    tuned = rows[rows["sound"].notna()]
    wide = {
        str(name): part.set_index("method")["sound"].astype(float)
        for name, part in tuned.groupby("dataset", sort=False)
    }
    gaps = {
        f"{first} and {other}": np.log((wide[first] / wide[other]).to_numpy())
        for first, other in combinations(wide, 2)
        if set(wide[first].index) == set(wide[other].index)
    }
    if not gaps:
        return Outcome(NOT_RUN, "needs tuned alphas of two data sets")
    p = holm([float(wilcoxon(gap).pvalue) if gap.any() else 1.0 for gap in gaps.values()])
    answer: Truth = (
        True if min(p) < LEVEL else None if any(gap.any() for gap in gaps.values()) else False
    )
    figures = ", ".join(f"{name} p {value:.3f}" for name, value in zip(gaps, p, strict=True))
    return Outcome(settled([answer]), f"tuned alphas differ between {figures}", tuned)


def _of_cells(
    rows: pd.DataFrame, true: pd.Series, share: Callable[[int], float], words: str
) -> Outcome:
    """Check whether `true` holds for the claimed share of the cells that open data can decide."""
    given = rows["sound"].notna()
    closed = rows["needs"].isin(restricted().values()) & ~given
    open_data = (rows["sound_verdict"] != LOST) & ~closed
    decided = given & rows["sound_verdict"].isin((AGREE, DIFFER))
    answers: list[Truth] = [
        bool(answer) if ran else None
        for answer, ran in zip(true[open_data], decided[open_data], strict=True)
    ]
    cells = rows[open_data]
    if set(answers) <= {None}:
        needed = next(filter(None, cells["needs"]), "the runs behind the table")
        return Outcome(NOT_RUN, f"needs {needed}")
    figures = f"{counts_in_words(answers)} tuned alphas: {words} ({len(rows)} in the table)"
    return Outcome(settled(answers, share(len(answers))), figures, cells)
