"""Rules on what happens from pass to pass of a fit."""

from collections.abc import Callable

import numpy as np

from deepcac.experiments.finished import Run
from deepcac.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac.papers.rules import Rule, by_share


def history(what: Callable[[dict[str, list[float]]], bool | None], *, prefix: str = "cac_") -> Rule:
    """Return a rule on the curve of every split of the runs of a kind.

    Parameters
    ----------
    what : callable
        From a split's history to whether the claim is true of it; None leaves it out.
    prefix : str
        Start of the method ids it is about.
    """

    def rule(evidence: Evidence) -> Decision:
        results: list[bool] = []
        used: list[Run] = []
        for run in evidence.runs.where(protocol=evidence.protocol, synthetic=False):
            if not run.method.startswith(prefix) or run.k < 2:
                continue
            own = [what(split.get("history") or {}) for split in run.splits]
            if any(value is not None for value in own):
                used.append(run)
                results += [bool(value) for value in own if value is not None]
        if not results:
            return Decision(NOT_RUN, "no run with such a curve yet")
        true = sum(results)
        figures = f"true of {true} of {len(results)} fits"
        return Decision(
            by_share(true / len(results), 1.0), figures, tuple(run.path for run in used)
        )

    return rule


def cost_falls() -> Rule:
    """Return the rule that the cost of CAC never rises."""
    return history(lambda curves: falls(curves.get("cost", [])))


def falls(curve: list[float]) -> bool | None:
    """Say whether a curve never rises (but for rounding); None without two points."""
    if len(curve) < 2:
        return None
    values = np.asarray(curve)
    return bool((np.diff(values) <= 1e-9 * np.abs(values).max()).all())


def rises(curve: list[float]) -> bool | None:
    """Say whether a curve never falls (but for rounding); None without two points."""
    return falls([-value for value in curve])
