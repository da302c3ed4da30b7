"""The rules that decide the claims of CAC v1."""

from collections.abc import Sequence

import numpy as np

from deepcac.experiments.finished_sweeps import final_pass
from deepcac.papers import grid_rules as grid
from deepcac.papers import sweep_rules as sweeps
from deepcac.papers import theorem_rules as theorems
from deepcac.papers.arms import Triples, cac_arm, flat, paired, triples
from deepcac.papers.cac_v1.gains import all_positive, from_to, near, within
from deepcac.papers.cac_v1.tuning import tuning_rules
from deepcac.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.findings import Findings
from deepcac.papers.ledger import Entry
from deepcac.papers.names import printed_datasets
from deepcac.papers.pass_rules import cost_falls, history, rises
from deepcac.papers.rules import Rule, averages, beats, every, maxima

_TABLE_1 = "cac_v1_table1_f1_heldout"
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
            averages({"over FNN": flat(paired(neural, 2, 0))}, near(2.09)),
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
        "CAC1-28": beats([*over_base["diabetes"], *over_km["diabetes"]]),
        "CAC1-31": _best_counts(v1, _COUNTS["1"]),
        "CAC1-32": every(
            _best_counts(in_folds, _COUNTS["4"]),
            *(beats(flat(paired(in_folds, 2, arm))) for arm in (0, 1)),
        ),
        "CAC1-33": _best_counts(v1, _COUNTS["5"]),
        "CAC1-35": every(*(beats(flat(paired(classic, arm, 0))) for arm in (2, 1))),
    }


def _pass_rules() -> dict[str, Rule]:
    """Return the claims on what happens from pass to pass."""
    return {
        **dict.fromkeys(("CAC1-05", "CAC1-13"), cost_falls()),
        "CAC1-09": history(lambda curves: rises(curves.get("separation", []))),
        "CAC1-10": history(lambda curves: _ends_higher(curves, 1)),
        "CAC1-11": history(lambda curves: _ends_higher(curves, -1)),
        "CAC1-29": _diabetes_separation,
    }


def _sweep_rules(found: Findings) -> dict[str, Rule]:
    """Return the claims on alpha."""
    tables = sweeps.on_real_data(found.sweeps.alpha)
    checks = {
        "CAC1-08": sweeps.faster,
        "CAC1-12": sweeps.both(sweeps.larger_separation, sweeps.steeper),
        "CAC1-21": sweeps.depends_heavily,
        "CAC1-22": sweeps.small_is_slow,
        "CAC1-23": sweeps.large_overfits,
    }
    credit = sweeps.sound_only(_credit_minimum(tables))
    return {**sweeps.sweep_rules(tables, checks), "CAC1-20": credit}


def _best_counts(groups: Triples, counts: Sequence[int]) -> Rule:
    """Return the rule on how many classifiers CAC is best for (ties go to the first listed)."""

    def rule(evidence: Evidence) -> Decision:
        found = {}
        for dataset, rows in groups.items():
            scores = [[evidence.score(arm) for arm in row] for row in rows]
            if any(None in row for row in scores):
                return Decision(NOT_RUN, f"{dataset} lacks runs")
            found[dataset] = int((np.array(scores, dtype=float).argmax(axis=1) == 2).sum())
        total = sum(found.values())
        cells = sum(len(rows) for rows in groups.values())
        same = list(found.values()) == list(counts)
        verdict = HOLDS if same else PARTLY if total > cells / 2 else FAILS
        figures = ", ".join(f"{name} {count}" for name, count in found.items())
        arms = [arm for rows in groups.values() for row in rows for arm in row]
        return Decision(verdict, f"CAC best for: {figures}", evidence.paths(arms))

    return rule


def _ends_higher(curves: dict[str, list[float]], upto: int) -> bool | None:
    """Say whether D and S are both higher at index `upto` than at the k-means start."""
    within, separation = curves.get("within", []), curves.get("separation", [])
    if min(len(within), len(separation)) < 2:
        return None
    return within[upto] > within[0] and separation[upto] > separation[0]


def _diabetes_separation(evidence: Evidence) -> Decision:
    """Decide whether Diabetes gains most class separation from k-means to CAC."""
    growth, used = {}, []
    for dataset in printed_datasets(_TABLE_1):
        run = evidence.run(cac_arm("cac_v1", dataset, "cac_lr"))
        curves = [(s.get("history") or {}).get("separation") for s in run.splits] if run else []
        if run is None or not curves or not all(curves):
            return Decision(NOT_RUN, f"{dataset} has no curve yet")
        growth[dataset] = float(np.mean([c[-1] / c[0] for c in curves if c and c[0]]))
        used.append(run.path)
    figures = ", ".join(f"{name} x{ratio:.1f}" for name, ratio in growth.items())
    most = max(growth, key=growth.__getitem__)
    return Decision(HOLDS if most == "diabetes" else FAILS, figures, tuple(used))


def _credit_minimum(tables: sweeps.Tables) -> Rule:
    """Return the rule that on Credit with k = 3 the test log-loss is lowest at alpha = 0.02."""

    def rule(evidence: Evidence) -> Decision:
        table = tables.get(("credit", 3))
        if table is None:
            return Decision(NOT_RUN, "no sweep over alpha on credit with k = 3 yet")
        last = final_pass(table).set_index("alpha")["test_log_loss"]
        best = float(last.index.to_numpy()[last.argmin()])
        lowest = f"lowest test log-loss {last.min():.4f} at alpha = {best:g}"
        figures = f"{lowest}, {last[0.02]:.4f} at 0.02"
        verdict = HOLDS if best == 0.02 else FAILS
        return Decision(verdict, figures, ("results/sweeps/alpha_credit_k3.parquet",))

    return rule
