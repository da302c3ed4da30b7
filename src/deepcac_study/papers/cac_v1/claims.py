"""The rules that decide the claims of CAC v1."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from deepcac_study.catalogue.methods import CAC_LR
from deepcac_study.experiments.finished_sweeps import final_pass
from deepcac_study.papers import grid_rules as grid
from deepcac_study.papers import sweep_rules as sweeps
from deepcac_study.papers import theorem_rules as theorems
from deepcac_study.papers.arms import Triples, cac_arm, flat, paired, triples
from deepcac_study.papers.cac_v1.gains import all_positive, averages, from_to, largest, near, within
from deepcac_study.papers.cac_v1.tuning import tuning_rules
from deepcac_study.papers.evidence import NOT_RUN, Arm, Decision, Evidence, lacking, without
from deepcac_study.papers.findings import Findings
from deepcac_study.papers.ledger import Entry
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.pass_rules import converges, ends_higher, falls, of_cac, rises
from deepcac_study.papers.rules import Rule, beats, by_group, every, maxima
from deepcac_study.papers.truth import Truth, above, alike, together

_TABLE_1 = "cac_v1_table1_f1_heldout"
_SAME_LOSS = 0.001  # log-losses that no split tells apart
_COUNTS = {"1": (5, 8, 7, 9, 7), "4": (1, 7, 7, 9, 6), "5": (2, 6, 7, 8, 5)}


def rules(found: Findings, ledger: Sequence[Entry]) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        **_gain_rules(),
        **_count_rules(),
        **_pass_rules(),
        **_sweep_rules(found),
        **grid.grid_rules(
            found.sweeps.grid,
            {
                "CAC1-16": grid.rises_with_ics,
                "CAC1-17": grid.little_by_ocs,
                "CAC1-18": grid.falls_with_clusters,
                "CAC1-19": grid.enough,
            },
        ),
        **theorems.theorem_rules(
            found.theory,
            {
                "CAC1-03": theorems.risk,
                "CAC1-04": theorems.lower_but_wider,
                "CAC1-06": theorems.growth,
                "CAC1-07": theorems.lloyd,
                "CAC1-14": theorems.log_loss,
                "CAC1-15": theorems.same_signs,
            },
        ),
        **tuning_rules(),
    }


def _triples(*, folds: bool = False) -> Triples:
    return triples("cac_v1", _TABLE_1, folds=folds)


def _gain_rules() -> dict[str, Rule]:
    """Return the claims on how much CAC gains."""
    v1 = _triples()
    over_km, over_base = paired(v1, 2, 1), paired(v1, 2, 0)
    neural = {name: [rows[-1]] for name, rows in v1.items()}
    return {
        "CAC1-02": averages({"CAC over KM": flat(over_km)}, near(4.63, 0.5)),
        "CAC1-24": averages(over_base, from_to(("titanic", 3.26), ("diabetes", 91.5))),
        "CAC1-25": averages(over_km, from_to(("titanic", 1.85), ("credit", 15.07))),
        "CAC1-27": averages(over_km, within(0.6, 78.0)),
        "CAC1-30": averages(over_km, all_positive),
        "CAC1-34": every(
            averages({"over FNN": flat(paired(neural, 2, 0))}, near(2.09, 0.5)),
            averages({"over DMNN": flat(paired(neural, 2, 1))}, near(0.44, 0.4)),
        ),
    }


def _count_rules() -> dict[str, Rule]:
    """Return the claims on how often CAC is better or best."""
    v1 = _triples()
    in_folds = _triples(folds=True)
    classic = {name: rows[:-1] for name, rows in v1.items()}
    over_km, over_base = paired(v1, 2, 1), paired(v1, 2, 0)
    best = {name: ([row[2] for row in rows], [row[1] for row in rows]) for name, rows in v1.items()}
    return {
        "CAC1-01": beats(flat(over_km)),
        "CAC1-26": maxima(best, at_least=5),
        "CAC1-28": every(
            beats([*over_base["diabetes"], *over_km["diabetes"]]),
            averages(over_base, largest("diabetes")),
        ),
        "CAC1-31": _best_counts(v1, _COUNTS["1"]),
        "CAC1-32": every(
            _best_counts(in_folds, _COUNTS["4"]),
            *(beats(flat(paired(in_folds, 2, arm)), share=1.0) for arm in (0, 1)),
        ),
        "CAC1-33": _best_counts(v1, _COUNTS["5"]),
        "CAC1-35": every(*(beats(flat(paired(classic, arm, 0))) for arm in (2, 1))),
    }


def _pass_rules() -> dict[str, Rule]:
    """Return the claims on what happens from pass to pass."""
    return {
        "CAC1-05": of_cac(converges),
        "CAC1-09": of_cac(lambda curves: rises(curves["separation"])),
        "CAC1-10": of_cac(lambda curves: ends_higher(curves, 1)),
        "CAC1-11": of_cac(lambda curves: ends_higher(curves, -1)),
        "CAC1-13": of_cac(lambda curves: falls(curves["cost"])),
        "CAC1-29": _low_then_high("diabetes"),
    }


def _sweep_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on alpha."""
    tables = found.sweeps.alpha
    checks: sweeps.Checks = {
        "CAC1-08": sweeps.faster,
        "CAC1-12": (sweeps.larger_separation, sweeps.steeper),
        "CAC1-21": sweeps.depends_heavily,
        "CAC1-22": sweeps.small_is_slow,
        "CAC1-23": sweeps.large_overfits,
    }
    credit = {key: table for key, table in tables.items() if key == ("credit", 3)}
    needs = "results/sweeps/alpha_credit_k3.parquet"
    return {
        **sweeps.sweep_rules(tables, checks, needs),
        "CAC1-20": sweeps.of_sweeps(credit, _lowest_at(0.02), needs),
    }


def _best_counts(groups: Triples, counts: Sequence[int]) -> Rule:
    """Return the rule that CAC is the best of three for as many classifiers as printed, or more.

    So claims on two tables that the same runs decide can hold together.
    """
    wanted = dict(zip(groups, counts, strict=True))

    def judge(evidence: Evidence, name: str) -> Truth:
        found = [
            [evidence.contrast(cac, other) for other in (plain, km)]
            for plain, km, cac in groups[name]
        ]
        answers = [[above(one) for one in pair if one] for pair in found]
        sure = sum(all(pair) for pair in answers)
        possible = sum(False not in pair for pair in answers)
        return True if sure >= wanted[name] else None if possible >= wanted[name] else False

    arms = {name: [arm for row in rows for arm in row] for name, rows in groups.items()}
    return by_group(arms, judge, 1.0)


def _low_then_high(dataset: str) -> Rule:
    """Return the rule that a data set has the least class separation under k-means, and gains most.

    Separation counts a row, so that sizes do not matter.
    """

    def rule(evidence: Evidence) -> Decision:
        arms = [cac_arm("cac_v1", name, CAC_LR) for name in printed_datasets(_TABLE_1)]
        kept = [arm for arm in arms if not evidence.left_out(arm)]
        if missing := lacking(kept, evidence):
            return missing
        start, growth = {}, {}
        for arm in kept:
            ends = _separations(evidence, arm)
            if not len(ends):
                return Decision(NOT_RUN, f"needs the curves of {evidence.target(arm)}")
            start[arm.dataset], growth[arm.dataset] = ends[:, 0], ends[:, 1] / ends[:, 0]
        n = min(map(len, start.values()))
        lowest = [min(start, key=lambda name: start[name][j]) == dataset for j in range(n)]
        most = [max(growth, key=lambda name: growth[name][j]) == dataset for j in range(n)]
        listed = ", ".join(f"{name} x{np.mean(ratio):.1f}" for name, ratio in growth.items())
        answers: list[Truth] = [alike(lowest), alike(most)]
        reason = (
            f"least separated on {sum(lowest)}, gains most on {sum(most)} of {n} splits: {listed}"
        )
        left = without(arms, evidence)
        return Decision(together(answers), reason + left, evidence.paths(kept))

    return rule


def _separations(evidence: Evidence, arm: Arm) -> np.ndarray:
    """Return the separation a row of each split at the k-means start and at the end."""
    run = evidence.run(arm)
    splits = run.splits if run else []
    curves = [(split.get("history", {}).get("separation"), split["n_train"]) for split in splits]
    return np.array([[c[0] / rows, c[-1] / rows] for c, rows in curves if c and c[0] > 0])


def _lowest_at(alpha: float) -> sweeps.Check:
    """Return the check that the test log-loss is lowest at an alpha; open where it is near that."""

    def check(table: pd.DataFrame) -> sweeps.Checked:
        last = final_pass(table).set_index("alpha")["test_log_loss"]
        best = float(last.index.to_numpy()[last.argmin()])
        text = f"lowest test log-loss {last.min():.4f} at alpha = {best:g}"
        tied = last[alpha] - last.min() < _SAME_LOSS
        answer = best == alpha or (None if tied else False)
        return answer, f"{text}, {last[alpha]:.4f} at {alpha:g}"

    return check
