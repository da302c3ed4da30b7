"""Rules on what happens from pass to pass of a fit."""

from collections.abc import Callable

import numpy as np

from deepcac_study.papers.evidence import NOT_RUN, Decision, Evidence
from deepcac_study.papers.rules.asked import Asked
from deepcac_study.papers.rules.decisions import Rule, by_name
from deepcac_study.papers.rules.truth import Truth, counts_in_words, settled

Curves = dict[str, list[float]]


def of_fits(
    what: Callable[[Curves], Truth],
    wanted: Asked,
    about: Callable[[Curves], bool],
    prefix: str,
    needs: str,
) -> Rule:
    """Return a rule on the curves of every fit of the runs of a kind.

    Classifiers share their clusterings: one clustering of a split is one fit, however many
    classifiers were trained on it.

    `what` says whether the claim is true of a fit with these curves, `about` whether they say
    anything, `wanted` of which share of the fits it has to be true; `prefix` is the start of the
    method ids, `needs` what to run where there are none.
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
        truths = list(answers.values())
        share = wanted(len(truths))
        reason = (
            f"{counts_in_words(truths)} fits, each clustering counted once; needed for {share:.0%}"
        )
        return Decision(settled(truths, share), reason, tuple(dict.fromkeys(used)))

    return rule


def moved(curves: Curves) -> bool:
    """Say whether CAC moved any row: a fit without a move is k-means and tells nothing."""
    return len(curves.get("cost", ())) > 1 and curves.get("moves", [0.0])[0] > 0


def has_silhouettes(curves: Curves) -> bool:
    """Say whether a network's curves follow the silhouette."""
    return len(curves.get("silhouette", ())) > 1


def converges(curves: Curves) -> Truth:
    """Say whether the cost falls in every pass with moves, until none moves; open if stopped."""
    cost, moves = curves["cost"], curves["moves"]
    while_moving = cost[1 : 1 + sum(count > 0 for count in moves)]
    if not all(after < before for before, after in zip(cost, while_moving, strict=False)):
        return False
    return True if moves[-1] == 0 else None


def falls(curve: list[float]) -> bool:
    """Say whether a curve never rises, but for rounding."""
    values = np.asarray(curve)
    return bool((np.diff(values) <= 1e-9 * np.abs(values).max()).all())


def cost_falls(curves: Curves) -> Truth:
    """Say whether the cost never rises."""
    return falls(curves["cost"])


def separation_rises(curves: Curves) -> Truth:
    """Say whether the separation never falls."""
    return falls([-value for value in curves["separation"]])


def higher_after_one_pass(curves: Curves) -> Truth:
    """Say whether D and S are both higher after the first pass than at the k-means start."""
    return all(curves[name][1] > curves[name][0] for name in ("within", "separation"))


def higher_at_the_end(curves: Curves) -> Truth:
    """Say whether D and S are both higher at the end than at the k-means start."""
    return all(curves[name][-1] > curves[name][0] for name in ("within", "separation"))


def silhouette_kept(curves: Curves) -> Truth:
    """Say whether the silhouette does not end below its start."""
    return curves["silhouette"][-1] >= curves["silhouette"][0] - 0.01


_OF_CAC = (moved, "cac_", "a run of CAC, such as results/cic/cac_lr_k2.json")
_OF_DEEPCAC = (has_silhouettes, "deepcac", "a run of DeepCAC, such as results/cic/deepcac_k3.json")


CHECKS = by_name(converges, cost_falls, separation_rises, higher_after_one_pass, higher_at_the_end)


def fit_rule(name: str, wanted: Asked) -> Rule:
    """Return the rule that a check is true of a share of the fits that it is about."""
    if name == silhouette_kept.__name__:
        return of_fits(silhouette_kept, wanted, *_OF_DEEPCAC)
    return of_fits(CHECKS[name], wanted, *_OF_CAC)
