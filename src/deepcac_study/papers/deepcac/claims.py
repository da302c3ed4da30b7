"""The rules that decide the claims of DeepCAC."""

from collections.abc import Sequence

import numpy as np

from deepcac_study.catalogue.methods import DEEPCAC as DEEPCAC_ID
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.papers import grid_rules as grid
from deepcac_study.papers import sweep_rules as sweeps
from deepcac_study.papers import theorem_rules as theorems
from deepcac_study.papers.arms import cac_arm, flat, paired, triples
from deepcac_study.papers.deepcac.degenerate import no_empty_cluster
from deepcac_study.papers.deepcac.length_of_stay import case_study_rules
from deepcac_study.papers.deepcac.loss_weights import weight_rules
from deepcac_study.papers.deepcac.separation_term import trainable
from deepcac_study.papers.deepcac.significance import significant
from deepcac_study.papers.evidence import NOT_RUN, Arm, Decision, Evidence
from deepcac_study.papers.findings import Findings
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.names import printed_datasets, printed_methods
from deepcac_study.papers.pass_rules import Curves, converges, history, of_cac
from deepcac_study.papers.rules import (
    Rule,
    beats,
    best_is,
    comparable,
    every,
    maxima,
    never_above,
    of_another_program,
    superior_or_comparable,
)
from deepcac_study.papers.table_rules import agrees, alpha_at_most, of_table
from deepcac_study.papers.truth import settled, unanimous

_TABLE_2, _TABLE_5 = "deepcac_table2_auprc", "deepcac_table5_f1"
_KS = (2, 3, 4)
_Z = ("km_z", "dcn_z", "idec_z")
BEST_AUPRC = {
    "diabetes": ("deepcac", 2),
    "cic": ("grasp", 2),
    "cic_los": ("deepcac", 3),
    "ards": ("deepcac", 2),
    "sepsis": ("deepcac", 3),
    "wid_mortality": ("deepcac", 2),
}
BEST_AUC = {
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
        "DCAC-29": of_cac(converges),
        "DCAC-39": trainable(found.sweeps.separation),
        "DCAC-40": no_empty_cluster(_sets(), _KS),
        "DCAC-46": alpha_at_most(2.0, of_table(ledger, "deepcac", "4")),
        "DCAC-47": agrees(of_table(ledger, "deepcac", "4")),
    }


def _sets() -> tuple[str, ...]:
    return printed_datasets(_TABLE_2)


def _arm(dataset: str, method: str, k: int, metric: str) -> Arm:
    return Arm(dataset, method, k, metric, "deepcac")


def _k(method: str, k: int) -> int:
    return k if parse_method(method).clustered else 1


def _against(
    first: str, others: Sequence[str], metric: str, sets: Sequence[str] | None = None
) -> list[tuple[Arm, Arm]]:
    """Return the comparisons of one method with others, for every data set and k."""
    return [
        (_arm(name, first, k, metric), _arm(name, other, _k(other, k), metric))
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


def _does_not_fall(curves: Curves) -> bool:
    return curves["silhouette"][-1] >= curves["silhouette"][0] - 0.01


def _has_silhouettes(curves: Curves) -> bool:
    return len(curves.get("silhouette", ())) > 1


def _their_ac_tpc(method: str, ks: Sequence[int], sets: Sequence[str]) -> Rule:
    arms = [_arm(name, method, k, "auprc") for name in sets for k in ks]
    return of_another_program("the authors' run of AC-TPC", arms)


def _short_and_long(evidence: Evidence) -> Decision:
    """Ask of each split for a cluster of mostly short stays and one of mostly long ones."""
    arm = _arm("cic_los", DEEPCAC_ID, 3, "auprc")
    run = evidence.run(arm)
    if run is None or run.status != "ok":
        return Decision(NOT_RUN, f"needs {evidence.target(arm)}")
    sizes = [split["clusters"]["sizes_train"] for split in run.splits]
    found = [{0, 2} <= {int(np.argmax(own)) for own in one if sum(own)} for one in sizes]
    reason = f"true of {sum(found)} of {len(found)} splits"
    return Decision(settled([unanimous(found)]), reason, (run.path,))


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
        "DCAC-03": every(*(beats(pairs) for pairs in over_km.values())),
        "DCAC-04": every(*(beats(flat(paired(deep, arm, 0))) for arm in (2, 1))),
        "DCAC-17": beats([(km, cac) for km, cac in silhouettes]),
    }


def _setting_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on alpha, on the loss weights and on the synthetic grid."""
    needs = "results/sweeps/alpha_cic_k2.parquet"
    on_grid = {
        "DCAC-01": grid.clustering_helps,
        "DCAC-31": grid.rises_with_ics,
        "DCAC-32": grid.little_by_ocs,
        "DCAC-33": grid.falls_with_clusters,
        "DCAC-34": grid.enough,
    }
    return {
        **sweeps.sweep_rules(found.sweeps.alpha, {"DCAC-27": sweeps.faster}, needs),
        "DCAC-16": sweeps.of_sweeps(
            found.sweeps.alpha, sweeps.silhouette_decreases, needs, each="alpha"
        ),
        **weight_rules(found.sweeps.weights),
        **grid.grid_rules(found.sweeps.grid, on_grid),
    }


def _static_rules() -> dict[str, Rule]:
    """Return the claims on Tables 2 and 6, and on the case study."""
    rivals = (*_Z, "dmnn")
    everyone_else = [method for method in printed_methods(_TABLE_2) if method != "deepcac"]
    others = tuple(name for name in _sets() if name != "cic")
    return {
        "DCAC-05": beats(_against("deepcac", rivals, "auprc"), share=1.0),
        "DCAC-06": comparable(_against("grasp", ("deepcac",), "auprc", ("cic",))),
        "DCAC-07": significant(_against("deepcac", ("grasp",), "auprc", others)),
        "DCAC-08": every(
            beats(_against("deepcac", rivals, "auroc")),
            beats(_against("deepcac", ("grasp",), "auroc", others)),
        ),
        "DCAC-09": _best_over_k("auroc", "deepcac", ("grasp",), others),
        "DCAC-10": _winners("auprc", BEST_AUPRC),
        "DCAC-11": _winners("auroc", BEST_AUC),
        "DCAC-12": every(
            _best_over_k("auprc", "deepcac", everyone_else, others),
            superior_or_comparable(_against("deepcac", everyone_else, "auprc", ("cic",))),
        ),
        "DCAC-13": every(
            *(beats(_against(method, _Z, "auprc")) for method in ("deepcac", "grasp"))
        ),
        "DCAC-14": every(
            never_above(_against("dmnn", ("fnn",), "auprc")),
            never_above(_against("dmnn", ("km_z",), "silhouette")),
        ),
        "DCAC-15": _their_ac_tpc("ac_tpc", (2,), _sets()),
        "DCAC-18": history(
            _does_not_fall,
            about=_has_silhouettes,
            needs="a run of DeepCAC, such as results/cic/deepcac_k3.json",
            prefix="deepcac",
        ),
        "DCAC-43": _short_and_long,
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
        "DCAC-22": every(*(beats(pairs, share=1.0) for pairs in series.values())),
        "DCAC-23": significant(series["auroc"], _STARS),
        "DCAC-24": beats(over_static),
        "DCAC-25": _their_ac_tpc("ac_tpc_ts", _KS, ("ards_ts", "sepsis_ts")),
    }
