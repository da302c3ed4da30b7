"""The answer to a question about a table, and what the comparisons behind it are called."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from deepcac.judging.contenders import parse_contender
from deepcac.scoring.statistics import Comparison


@dataclass(frozen=True)
class Answer:
    """The answer to a question about a table.

    Attributes
    ----------
    sentence : str
        The answer in one sentence, which can be acted on.
    also : sequence of str
        What a reader must know besides the answer.
    numbers : sequence of (str, str)
        Those of the first screen: what each is, and its value.
    details : sequence of str
        What it rests on, a sentence each.
    warnings : sequence of str
        Why it may be wrong.
    verdict : str
        In one word.
    table : DataFrame
        Its comparisons (`deepcac.judging.verdicts.verdicts`); of `power` its `detection_curve`.
    best, clustered : str
        Ids of the best model without clusters, and of the best with them.
    """

    sentence: str
    also: Sequence[str] = ()
    numbers: Sequence[tuple[str, str]] = ()
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    verdict: str = ""
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    best: str = ""
    clustered: str = ""


Line = Mapping[Hashable, Any]  # a comparison, a row of `deepcac.judging.verdicts.verdicts`

_MODELS = {
    "lr": "logistic regression",
    "spline_lr": "logistic regression with splines",
    "lgbm": "boosted trees (LightGBM)",
    "hgb": "boosted trees (scikit-learn)",
}
_ARMS = {
    "km": "k-means",
    "cac": "CAC",
    "dist": "distances to centres",
    "ids": "cluster ids",
    "soft": "soft weights of clusters",
    "cells": "random groups",
    "hash": "hash of the row",
}


def contender_name(contender: str) -> str:
    """Return the name of a contender in words."""
    named = parse_contender(contender)
    model = _MODELS[named.learner]
    return f"{model} + {_ARMS[named.arm]}" if named.arm else model


def arm_name(contender: str) -> str:
    """Return the name of a contender's partition in words."""
    return _ARMS[contender.partition("_")[0]]


def signed(value: float, digits: int = 3) -> str:
    """Return a difference with its sign; none before a zero."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


def with_interval(values: Sequence[float], digits: int, *, sign: bool = False) -> str:
    """Format a value with its interval, or only the value if the interval is NaN."""
    value, low, high = (
        signed(number, digits) if sign else f"{number:z.{digits}f}" for number in values[:3]
    )
    return value if values[1] != values[1] else f"{value} ({low} to {high})"


def gain(line: Line) -> str:
    """Return a difference in AUROC with its 95 % interval."""
    return f"{signed(line['mean'])} AUROC ({signed(line['low'])} to {signed(line['high'])})"


def ahead_sentence(ahead: str, lower: str, gap: Comparison, by: str = "") -> str:
    """Describe the test-set AUROC difference between the validation leader and another model.

    `by` says how large the lead is on the rows that choose.
    """
    difference = with_interval((gap.mean, gap.low, gap.high), 3, sign=True)
    return (
        f"{ahead} was ahead of {lower} on the rows that models are chosen by{by}; on the test "
        f"rows the difference is {difference}"
    )
