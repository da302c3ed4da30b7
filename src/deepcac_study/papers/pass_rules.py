"""Rules on what happens from pass to pass of a fit."""

from collections.abc import Callable

import numpy as np

from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.truth import Truth, settled, told

Curves = dict[str, list[float]]


def history(
    what: Callable[[Curves], Truth],
    *,
    about: Callable[[Curves], bool],
    needs: str,
    prefix: str = "cac_",
) -> Rule:
    """Return a rule on the curves of every fit of the runs of a kind.

    Classifiers share their clusterings: one clustering of a split is one fit, however many
    classifiers were trained on it.

    Parameters
    ----------
    what : callable
        From a fit's curves to whether the claim is true of it.
    about : callable
        Whether the curves say anything; the others are left out.
    needs : str
        What to run where there are none.
    prefix : str
        Start of the method ids it is about.
    """

    def rule(evidence: Evidence) -> Decision:
        answers: dict[tuple[object, ...], Truth] = {}
        used: list[str] = []
        for run in evidence.runs.where(protocol=evidence.protocol):
            if not run.method.startswith(prefix) or run.k < 2:
                continue
            fits = [(split["seed"], split.get("history") or {}) for split in run.splits]
            for seed, curves in fits:
                if about(curves):
                    values = tuple((name, *curve) for name, curve in sorted(curves.items()))
                    answers[run.dataset, run.k, seed, values] = what(curves)
                    used.append(run.path)
        if not answers:
            return Decision(NOT_RUN, f"needs {needs}")
        found = list(answers.values())
        reason = f"{told(found)} fits, each clustering counted once"
        return Decision(settled(found), reason, tuple(dict.fromkeys(used)))

    return rule


def of_cac(what: Callable[[Curves], Truth]) -> Rule:
    """Return a rule on every fit of CAC in which a row moved."""
    return history(what, about=moved, needs="a run of CAC, such as results/cic/cac_lr_k2.json")


def moved(curves: Curves) -> bool:
    """Say whether CAC moved any row: a fit without a move is k-means and tells nothing."""
    return len(curves.get("cost", ())) > 1 and curves.get("moves", [0.0])[0] > 0


def converges(curves: Curves) -> Truth:
    """Say whether the cost falls in every pass with moves, until none moves; open if stopped."""
    cost, moves = curves["cost"], curves["moves"]
    if not all(
        after < before for before, after in zip(cost, _while_moving(cost, moves), strict=False)
    ):
        return False
    return True if moves[-1] == 0 else None


def _while_moving(cost: list[float], moves: list[float]) -> list[float]:
    """Return the cost after each pass in which rows moved."""
    return cost[1 : 1 + sum(count > 0 for count in moves)]


def falls(curve: list[float]) -> bool:
    """Say whether a curve never rises, but for rounding."""
    values = np.asarray(curve)
    return bool((np.diff(values) <= 1e-9 * np.abs(values).max()).all())


def rises(curve: list[float]) -> bool:
    """Say whether a curve never falls, but for rounding."""
    return falls([-value for value in curve])


def ends_higher(curves: Curves, upto: int) -> bool:
    """Say whether D and S are both higher at index `upto` than at the k-means start."""
    within, separation = curves["within"], curves["separation"]
    return within[upto] > within[0] and separation[upto] > separation[0]
