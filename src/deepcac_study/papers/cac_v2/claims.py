"""The rules that decide the claims of CAC v2."""

from collections.abc import Sequence

from deepcac_study.papers import grid_rules as grid
from deepcac_study.papers import sweep_rules as sweeps
from deepcac_study.papers import theorem_rules as theorems
from deepcac_study.papers.arms import cac_arm
from deepcac_study.papers.cac_v2.gaussian_classes import crossings_fall
from deepcac_study.papers.evidence import (
    CANNOT,
    HOLDS,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Arm,
    Decision,
    Evidence,
)
from deepcac_study.papers.findings import Findings
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.names import printed_datasets, printed_methods
from deepcac_study.papers.pass_rules import converges, of_cac
from deepcac_study.papers.rules import (
    Rule,
    beats,
    best_is,
    every,
    maxima,
    of_another_program,
    superior_or_comparable,
)
from deepcac_study.papers.table_rules import agrees, of_table
from deepcac_study.papers.truth import Ask, above, not_below

_TABLE_2 = "cac_v2_table2_f1"
_OF_EC3 = ("titanic", "magic", "credit", "adult", "diabetes")
# By data set, in the order of the table.
BEST_F1 = ("cac_lr", "dmnn", "ec3", "dmnn", "cac_lr", "cac_dmnn", "cac_dmnn")
BEST_AUC = ("cac_lr", "km_lr", "cac_dmnn", "cac_lr", "dmnn", "cac_dmnn", "lr")


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        **_table_rules(),
        **_sweep_rules(found),
        **_grid_rules(found),
        **theorems.theorem_rules(
            found.theory,
            {
                "CAC2-02": theorems.trade,
                "CAC2-05": theorems.growth_and_training,
                "CAC2-06": theorems.lloyd,
            },
        ),
        "CAC2-03": crossings_fall(),
        "CAC2-04": of_cac(converges),
        "CAC2-21": agrees(of_table(ledger, "cac_v2", "4")),
    }


def _grid_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on the synthetic grid, whose classes are one to ten."""
    table = found.sweeps.grid
    by_place = {
        "CAC2-07": grid.rises_with_ics,
        "CAC2-08": grid.little_by_ocs,
        "CAC2-09": grid.falls_with_clusters,
    }
    return {
        **grid.grid_rules(table, by_place, rare=True, metrics=("f1", "auroc")),
        **grid.grid_rules(table, {"CAC2-10": grid.enough}, rare=True, metrics=("auroc",)),
    }


def _sweep_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on alpha."""
    checks: sweeps.Checks = {
        "CAC2-11": (sweeps.depends_heavily, sweeps.small_is_slow),
        "CAC2-12": (sweeps.large_overfits, sweeps.spread_out),
    }
    needs = "results/sweeps/alpha_credit_k3.parquet"
    return sweeps.sweep_rules(found.sweeps.alpha, checks, needs)


def _table_rules() -> dict[str, Rule]:
    """Return the claims on Tables 2 and 3."""
    against_ec3 = _arms("f1", "cac_lr", "cac_dmnn", "ec3")
    return {
        "CAC2-01": every(
            *(_rival(m, ours) for ours in ("cac_lr", "cac_dmnn") for m in ("f1", "auroc"))
        ),
        "CAC2-13": _over("f1", not_below, "cac_lr", "lr", "km_lr"),
        "CAC2-14": _over("f1", above, "cac_dmnn", "dmnn"),
        "CAC2-15": maxima(
            {name: (row[:2], row[2:]) for name, row in against_ec3.items()}, at_least=6
        ),
        "CAC2-16": every(
            _over("auroc", not_below, "cac_lr", "lr", "km_lr"),
            _over("auroc", above, "cac_dmnn", "dmnn"),
        ),
        "CAC2-17": of_another_program(
            "the authors' run of EC3", [cac_arm("cac_v2", "diabetes", "ec3")]
        ),
        "CAC2-18": _one_of_twelve(),
        "CAC2-19": _winners("f1", BEST_F1),
        "CAC2-20": _winners("auroc", BEST_AUC),
    }


def _arms(metric: str, *methods: str) -> dict[str, list[Arm]]:
    """Return arms by data set of Table 2."""
    return {
        name: [cac_arm("cac_v2", name, method, metric) for method in methods]
        for name in printed_datasets(_TABLE_2)
    }


def _over(metric: str, ask: Ask, better: str, *worse: str) -> Rule:
    """Return the rule that on 5 of 7 data sets one is above (or not below) the best other."""
    groups = {name: (row[:1], row[1:]) for name, row in _arms(metric, better, *worse).items()}
    return maxima(groups, at_least=5, ask=ask)


def _one_of_twelve() -> Rule:
    """Return the rule that EC3 beats the random forest on the five sets of its own paper.

    Of the twelve rivals of the claim AdaBoost, BGCM and UPE were not run, so that it cannot hold.
    """
    rows = _arms("f1", "ec3", "rf")
    forest = beats([(row[0], row[1]) for name, row in rows.items() if name in _OF_EC3])

    def rule(evidence: Evidence) -> Decision:
        found = forest(evidence)
        verdict = {HOLDS: PARTLY, UNDECIDED: CANNOT}.get(found.verdict, found.verdict)
        reason = f"against the random forest {found.reason}; AdaBoost, BGCM and UPE were not run"
        return found if found.verdict == NOT_RUN else Decision(verdict, reason, found.runs)

    return rule


def _rival(metric: str, ours: str) -> Rule:
    """Return the rule "superior or comparable to the earlier methods on every data set"."""
    rows = _arms(metric, ours, "ec3", "dmnn", "km_lr").values()
    return superior_or_comparable([(row[0], other) for row in rows for other in row[1:]])


def _winners(metric: str, best: Sequence[str]) -> Rule:
    """Return the rule that the methods which the table marks are the best."""
    pairs = zip(_arms(metric, *printed_methods(_TABLE_2)).items(), best, strict=True)
    return best_is(
        {name: (row, cac_arm("cac_v2", name, method, metric)) for (name, row), method in pairs}
    )
