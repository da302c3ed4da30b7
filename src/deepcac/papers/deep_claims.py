"""Claims of DeepCAC about its network and its rivals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deepcac.papers.evidence import (
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    RESTRICTED,
    Arm,
    Decision,
    Evidence,
    open_arms,
    without,
)
from deepcac.papers.rules import (
    Rule,
    beats,
    best_is,
    every,
    graded,
    history,
    maxima,
    not_below,
)
from deepcac.scoring.statistics import holm

_SETS = ("diabetes", "cic", "cic_los", "ards", "sepsis", "wid_mortality")
_KS = (2, 3, 4)
_Z = ("km_z", "dcn_z", "idec_z")
_ALL = (*_Z, "dmnn", "ac_tpc", "grasp", "deepcac")
_BEST_AUPRC = {
    "diabetes": ("deepcac", 2),
    "cic": ("grasp", 2),
    "cic_los": ("deepcac", 3),
    "ards": ("deepcac", 2),
    "sepsis": ("deepcac", 3),
    "wid_mortality": ("deepcac", 2),
}
_BEST_AUC = {
    "diabetes": ("deepcac", 3),
    "cic": ("grasp", 2),
    "cic_los": ("deepcac", 2),
    "ards": ("deepcac", 2),
    "sepsis": ("deepcac", 2),
    "wid_mortality": ("deepcac", 2),
}
_SIGNIFICANT = 0.05
# Table 9's stars by data set and k.
_STARS = {
    ("ards_ts", 2): 0.01,
    ("sepsis_ts", 2): 0.01,
    ("sepsis_ts", 4): 0.01,
}


def _arm(dataset: str, method: str, k: int, metric: str) -> Arm:
    return Arm(dataset, method, k, metric, "deepcac")


def _against(
    first: str, others: Sequence[str], metric: str, sets: Sequence[str] = _SETS
) -> list[tuple[Arm, Arm]]:
    """Return the comparisons of one method with others, for every data set and k."""
    return [
        (_arm(name, first, k, metric), _arm(name, other, k, metric))
        for name in sets
        for k in _KS
        for other in others
    ]


def _significant(
    pairs: Sequence[tuple[Arm, Arm]], levels: Mapping[tuple[str, int], float] | None = None
) -> Rule:
    """Return the rule "the first arm is better, and significantly so" (Holm over all pairs).

    `levels` names the level by data set and k where it is not 0.05.
    """

    def rule(evidence: Evidence) -> Decision:
        kept = open_arms(pairs, evidence)
        if not kept:
            return Decision(NOT_DECIDABLE, without(pairs, kept).removeprefix("; "))
        tests = [evidence.test(*pair) for pair in kept]
        made = [test for test in tests if test is not None]
        if len(made) < len(tests):
            return Decision(NOT_RUN, f"{len(tests) - len(made)} of {len(tests)} tests lack runs")
        adjusted = holm([test.p for test in made])
        higher = sum(test.mean > 0 for test in made)
        wanted = [(levels or {}).get((first.dataset, first.k), _SIGNIFICANT) for first, _ in kept]
        sure = sum(
            bool(test.mean > 0 and p < level)
            for test, p, level in zip(made, adjusted, wanted, strict=True)
        )
        verdict = HOLDS if sure == len(made) else PARTLY if higher > len(made) / 2 else FAILS
        figures = f"higher in {higher} of {len(made)}, significantly in {sure}"
        arms = [arm for pair in kept for arm in pair]
        return Decision(verdict, figures + without(pairs, kept), evidence.paths(arms))

    return rule


def _comparable(pairs: Sequence[tuple[Arm, Arm]]) -> Rule:
    """Return the rule "the two arms differ by at most 2 combined standard deviations"."""

    def rule(evidence: Evidence) -> Decision:
        near, gaps = 0, []
        for first, second in pairs:
            one, other = evidence.score(first), evidence.score(second)
            if one is None or other is None:
                return Decision(NOT_RUN, f"{first.dataset} k = {first.k} lacks runs")
            reach = 2 * (evidence.spread(first) ** 2 + evidence.spread(second) ** 2) ** 0.5
            near += abs(one - other) <= reach
            gaps.append(f"k = {first.k} {one - other:+.3f} (2 sd {reach:.3f})")
        arms = [arm for pair in pairs for arm in pair]
        return Decision(graded(near / len(pairs), 1.0), ", ".join(gaps), evidence.paths(arms))

    return rule


def _winners(metric: str, best: dict[str, tuple[str, int]]) -> Rule:
    return best_is(
        {
            name: (
                [_arm(name, method, k, metric) for method in _ALL for k in _KS],
                _arm(name, *claimed, metric),
            )
            for name, claimed in best.items()
        }
    )


def _best_over_k(metric: str, first: str, others: Sequence[str], sets: Sequence[str]) -> Rule:
    groups = {
        name: (
            [_arm(name, first, k, metric) for k in _KS],
            [_arm(name, other, k, metric) for other in others for k in _KS],
        )
        for name in sets
    }
    return maxima(groups, at_least=len(sets))


def _does_not_fall(curves: dict[str, list[float]]) -> bool | None:
    silhouette = curves.get("silhouette", [])
    return None if len(silhouette) < 2 else silhouette[-1] >= silhouette[0] - 0.01


def _their_program(method: str, k: int | None, sets: Sequence[str]) -> Rule:
    """Say how our runs ended where a claim is about the authors' program, which we did not run."""

    def rule(evidence: Evidence) -> Decision:
        arms = [_arm(name, method, v, "auprc") for name in sets for v in ([k] if k else _KS)]
        made = [run for arm in arms if arm.dataset not in RESTRICTED and (run := evidence.run(arm))]
        if not made:
            return Decision(NOT_RUN, f"no run of {method} yet")
        finished = sum(run.status == "ok" for run in made)
        figures = f"about another program; {finished} of {len(made)} of our own runs finish"
        return Decision(NOT_DECIDABLE, figures, tuple(run.path for run in made))

    return rule


def _case_study(check: Callable[[dict[str, Any]], bool]) -> Rule:
    """Return the rule that something is true of the clusters of every split (CIC-LoS, k = 3)."""

    def rule(evidence: Evidence) -> Decision:
        run = evidence.run(_arm("cic_los", "deepcac", 3, "auprc"))
        if run is None or run.status != "ok":
            return Decision(NOT_RUN, "no run of deepcac on cic_los with k = 3 yet")
        found = [check(split["clusters"]) for split in run.splits]
        figures = f"true of {sum(found)} of {len(found)} splits"
        return Decision(graded(sum(found) / len(found), 1.0), figures, (run.path,))

    return rule


def _short_and_long(clusters: dict[str, Any]) -> bool:
    """Say whether one cluster holds mostly short stays (class 0) and another mostly long ones."""
    largest = {int(np.argmax(sizes)) for sizes in clusters["sizes_train"] if sum(sizes)}
    return {0, 2} <= largest


def _ventilation_and_urine(clusters: dict[str, Any]) -> bool:
    """Say whether ventilation and urine are both among what sets the clusters apart most."""
    names = [str(feature["feature"]) for feature in clusters["features"]]
    return all(
        any(name.startswith(wanted) for name in names) for wanted in ("MechVent", "UrineOutput")
    )


def deep_rules() -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {**_static_rules(), **_sequence_rules()}


def _static_rules() -> dict[str, Rule]:
    """Return the claims on Tables 2 and 6, and on the case study."""
    rivals = (*_Z, "dmnn")
    everyone_else = [method for method in _ALL if method != "deepcac"]
    others = tuple(name for name in _SETS if name != "cic")
    large = ("ards", "sepsis", "wid_mortality")
    return {
        "DCAC-05": beats(_against("deepcac", rivals, "auprc")),
        "DCAC-06": _comparable(_against("grasp", ("deepcac",), "auprc", ("cic",))),
        "DCAC-07": _significant(_against("deepcac", ("grasp",), "auprc", others)),
        "DCAC-08": every(
            beats(_against("deepcac", rivals, "auroc")),
            beats(_against("deepcac", ("grasp",), "auroc", others)),
        ),
        "DCAC-09": _best_over_k("auroc", "deepcac", ("grasp",), others),
        "DCAC-10": _winners("auprc", _BEST_AUPRC),
        "DCAC-11": _winners("auroc", _BEST_AUC),
        "DCAC-12": every(
            _best_over_k("auprc", "deepcac", everyone_else, large),
            not_below(_against("deepcac", everyone_else, "auprc", ("cic", "cic_los"))),
        ),
        "DCAC-13": every(
            *(beats(_against(method, _Z, "auprc")) for method in ("deepcac", "grasp"))
        ),
        "DCAC-14": every(
            *(beats(_against("deepcac", ("dmnn",), metric)) for metric in ("auprc", "silhouette"))
        ),
        "DCAC-15": _their_program("ac_tpc", 2, _SETS),
        "DCAC-18": history(_does_not_fall, prefix="deepcac"),
        "DCAC-43": _case_study(_short_and_long),
        "DCAC-44": _case_study(_ventilation_and_urine),
    }


def _sequence_rules() -> dict[str, Rule]:
    """Return the claims on the time series (Tables 3 and 9)."""
    metrics = ("auprc", "auroc")
    series = {
        metric: _against("deepcac_ts", ("grasp_ts",), metric, ("ards_ts", "sepsis_ts"))
        for metric in metrics
    }
    over_static = [
        (_arm(f"{name}_ts", "deepcac_ts", k, metric), _arm(name, "deepcac", k, metric))
        for metric in metrics
        for name in ("ards", "sepsis")
        for k in _KS
    ]
    return {
        "DCAC-22": every(*(beats(pairs) for pairs in series.values())),
        "DCAC-23": _significant(series["auroc"], _STARS),
        "DCAC-24": beats(over_static),
        "DCAC-25": _their_program("ac_tpc_ts", None, ("sepsis_ts",)),
    }
