"""Verdicts on gains by data set, in per cent, for claims that name the gains."""

import numpy as np

from deepcac.papers.evidence import FAILS, HOLDS, PARTLY
from deepcac.papers.rules import Judge


def from_to(lowest: tuple[str, float], highest: tuple[str, float], margin: float = 2.0) -> Judge:
    """Judge gains that run from one data set's to another's, within `margin` points."""

    def judge(gains: dict[str, float]) -> str:
        ends = (min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__))
        near = all(
            abs(gains[name] - value) <= margin for name, value in (lowest, highest) if name in gains
        )
        if ends == (lowest[0], highest[0]) and near:
            return HOLDS
        return PARTLY if all(gain > 0 for gain in gains.values()) else FAILS

    return judge


def all_positive(gains: dict[str, float]) -> str:
    """Judge gains that should all be positive."""
    share = np.mean([gain > 0 for gain in gains.values()])
    return HOLDS if share == 1 else PARTLY if share > 0.5 else FAILS


def near(value: float, margin: float = 2.0) -> Judge:
    """Judge a gain that should be positive and within `margin` points of a value."""

    def judge(gains: dict[str, float]) -> str:
        gain = next(iter(gains.values()))
        if gain <= 0:
            return FAILS
        return HOLDS if abs(gain - value) <= margin else PARTLY

    return judge


def within(low: float, high: float) -> Judge:
    """Judge gains that should all be positive and within a range."""

    def judge(gains: dict[str, float]) -> str:
        if min(gains.values()) <= 0:
            return FAILS
        return HOLDS if all(low <= gain <= high for gain in gains.values()) else PARTLY

    return judge
