"""The rules that decide the claims of DeepCAC."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deepcac.papers import grid_rules as grid
from deepcac.papers import sweep_rules as sweeps
from deepcac.papers import theorem_rules as theorems
from deepcac.papers.arms import cac_arm, flat, paired, triples
from deepcac.papers.deepcac.length_of_stay import case_study_rules
from deepcac.papers.deepcac.loss_weights import weight_rules
from deepcac.papers.deepcac.significance import comparable, significant
from deepcac.papers.evidence import NOT_DECIDABLE, NOT_RUN, Arm, Decision, Evidence
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import Entry
from deepcac.papers.names import printed_datasets, printed_methods, restricted
from deepcac.papers.pass_rules import cost_falls, history
from deepcac.papers.rules import Rule, beats, best_is, by_share, every, maxima, not_below
from deepcac.papers.table_rules import agrees, alpha_at_most, of_table

_TABLE_2, _TABLE_5 = "deepcac_table2_auprc", "deepcac_table5_f1"
_KS = (2, 3, 4)
_Z = ("km_z", "dcn_z", "idec_z")
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
# Table 9's stars by data set and k.
_STARS = {
    ("ards_ts", 2): 0.01,
    ("sepsis_ts", 2): 0.01,
    ("sepsis_ts", 4): 0.01,
}


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        **_cac_rules(),
        **_static_rules(),
        **_sequence_rules(),
        **_setting_rules(found),
        **theorems.theorem_rules(
            found.theory,
            {
                "DCAC-26": theorems.cost,
                "DCAC-28": theorems.lloyd,
                "DCAC-30": theorems.growth,
                "DCAC-35": theorems.risk,
                "DCAC-36": theorems.log_loss,
                "DCAC-37": theorems.tighter,
                "DCAC-38": theorems.am_softmax,
            },
        ),
        **case_study_rules(found.studies),
        "DCAC-29": cost_falls(),
        "DCAC-46": alpha_at_most(2.0, of_table(ledger, "deepcac", "4")),
        "DCAC-47": agrees(of_table(ledger, "deepcac", "4")),
    }


def _sets() -> tuple[str, ...]:
    return printed_datasets(_TABLE_2)


def _arm(dataset: str, method: str, k: int, metric: str) -> Arm:
    return Arm(dataset, method, k, metric, "deepcac")


def _against(
    first: str, others: Sequence[str], metric: str, sets: Sequence[str] | None = None
) -> list[tuple[Arm, Arm]]:
    """Return the comparisons of one method with others, for every data set and k."""
    return [
        (_arm(name, first, k, metric), _arm(name, other, k, metric))
        for name in sets or _sets()
        for k in _KS
        for other in others
    ]


def _winners(metric: str, best: dict[str, tuple[str, int]]) -> Rule:
    return best_is(
        {
            name: (
                [
                    _arm(name, method, k, metric)
                    for method in printed_methods(_TABLE_2)
                    for k in _KS
                ],
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
        made = [
            run for arm in arms if arm.dataset not in restricted() and (run := evidence.run(arm))
        ]
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
        return Decision(by_share(sum(found) / len(found), 1.0), figures, (run.path,))

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


def _cac_rules() -> dict[str, Rule]:
    """Return the claims on CAC: Table 5 and the silhouette."""
    deep = triples("deepcac", _TABLE_5)
    over_km = paired(deep, 2, 1)
    silhouettes = [
        tuple(cac_arm("deepcac", name, method, "silhouette") for method in ("km_lr", "cac_lr"))
        for name in printed_datasets(_TABLE_5)
    ]
    return {
        "DCAC-02": beats(flat(over_km), share=20 / 27),
        "DCAC-03": every(*(beats(pairs, share=0.51) for pairs in over_km.values())),
        "DCAC-04": every(*(beats(flat(paired(deep, arm, 0))) for arm in (2, 1))),
        "DCAC-17": beats([(km, cac) for km, cac in silhouettes]),
    }


def _setting_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on alpha, on the loss weights and on the synthetic grid."""
    checks = {"DCAC-16": sweeps.silhouette_decreases, "DCAC-27": sweeps.faster}
    on_grid = {
        "DCAC-01": grid.clustering_helps,
        "DCAC-31": grid.rises_with_ics,
        "DCAC-32": grid.little_by_ocs,
        "DCAC-33": grid.falls_with_clusters,
        "DCAC-34": grid.enough,
    }
    return {
        **sweeps.sweep_rules(sweeps.on_real_data(found.sweeps.alpha), checks),
        **weight_rules(sweeps.on_real_data(found.sweeps.weights)),
        **grid.grid_rules(found.sweeps.grid, on_grid),
    }


def _static_rules() -> dict[str, Rule]:
    """Return the claims on Tables 2 and 6, and on the case study."""
    rivals = (*_Z, "dmnn")
    everyone_else = [method for method in printed_methods(_TABLE_2) if method != "deepcac"]
    others = tuple(name for name in _sets() if name != "cic")
    large = ("ards", "sepsis", "wid_mortality")
    return {
        "DCAC-05": beats(_against("deepcac", rivals, "auprc")),
        "DCAC-06": comparable(_against("grasp", ("deepcac",), "auprc", ("cic",))),
        "DCAC-07": significant(_against("deepcac", ("grasp",), "auprc", others)),
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
        "DCAC-15": _their_program("ac_tpc", 2, _sets()),
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
        "DCAC-23": significant(series["auroc"], _STARS),
        "DCAC-24": beats(over_static),
        "DCAC-25": _their_program("ac_tpc_ts", None, ("sepsis_ts",)),
    }
