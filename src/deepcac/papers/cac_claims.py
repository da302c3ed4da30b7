"""Claims of the two CAC papers and of DeepCAC about CAC itself."""

from collections.abc import Mapping, Sequence

import numpy as np

from deepcac.papers.arms import (
    DEEPCAC_SETS,
    NINE,
    V1_BASES,
    V1_SETS,
    V2_METHODS,
    V2_SETS,
    cac_arm,
    flat,
    paired,
    triples,
)
from deepcac.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Arm, Decision, Evidence
from deepcac.papers.rules import (
    Judge,
    Rule,
    averages,
    beats,
    best_is,
    every,
    history,
    maxima,
    not_below,
    status,
)

_V1_COUNTS = {"1": (5, 8, 7, 9, 7), "4": (1, 7, 7, 9, 6), "5": (2, 6, 7, 8, 5)}


def _from_to(lowest: tuple[str, float], highest: tuple[str, float], margin: float = 2.0) -> Judge:
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


def _all_positive(gains: dict[str, float]) -> str:
    share = np.mean([gain > 0 for gain in gains.values()])
    return HOLDS if share == 1 else PARTLY if share > 0.5 else FAILS


def _best_counts(groups: Mapping[str, list[list[Arm]]], counts: Sequence[int]) -> Rule:
    """Return the rule on how many classifiers CAC is best for (ties to the first listed)."""

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


def falls(curve: list[float]) -> bool | None:
    """Say whether a curve never rises (but for rounding); None without two points."""
    if len(curve) < 2:
        return None
    values = np.asarray(curve)
    return bool((np.diff(values) <= 1e-9 * np.abs(values).max()).all())


def _rises(curve: list[float]) -> bool | None:
    return falls([-value for value in curve])


def _ends_higher(curves: dict[str, list[float]], upto: int) -> bool | None:
    """Say whether D and S are both higher at index `upto` than at the k-means start."""
    within, separation = curves.get("within", []), curves.get("separation", [])
    if min(len(within), len(separation)) < 2:
        return None
    return within[upto] > within[0] and separation[upto] > separation[0]


def _diabetes_separation(evidence: Evidence) -> Decision:
    """Decide whether Diabetes gains most class separation from k-means to CAC."""
    growth, used = {}, []
    for dataset in V1_SETS:
        run = evidence.run(cac_arm("cac_v1", dataset, "cac_lr"))
        curves = [(s.get("history") or {}).get("separation") for s in run.splits] if run else []
        if run is None or not curves or not all(curves):
            return Decision(NOT_RUN, f"{dataset} has no curve yet")
        growth[dataset] = float(np.mean([c[-1] / c[0] for c in curves if c and c[0]]))
        used.append(run.path)
    figures = ", ".join(f"{name} x{ratio:.1f}" for name, ratio in growth.items())
    most = max(growth, key=growth.__getitem__)
    return Decision(HOLDS if most == "diabetes" else FAILS, figures, tuple(used))


def _near(value: float, margin: float = 2.0) -> Judge:
    """Judge a gain that should be positive and within `margin` points of a value."""

    def judge(gains: dict[str, float]) -> str:
        gain = next(iter(gains.values()))
        if gain <= 0:
            return FAILS
        return HOLDS if abs(gain - value) <= margin else PARTLY

    return judge


def _within(low: float, high: float) -> Judge:
    """Judge gains that should all be positive and within a range."""

    def judge(gains: dict[str, float]) -> str:
        if min(gains.values()) <= 0:
            return FAILS
        return HOLDS if all(low <= gain <= high for gain in gains.values()) else PARTLY

    return judge


def cac_rules() -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {**_gain_rules(), **_count_rules(), **_course_rules(), **_v2_rules(), **_table5_rules()}


def _gain_rules() -> dict[str, Rule]:
    """Return the claims of v1 on how much CAC gains."""
    v1 = triples("cac_v1", V1_SETS, V1_BASES)
    over_km, over_base = paired(v1, 2, 1), paired(v1, 2, 0)
    neural = {name: [rows[-1]] for name, rows in v1.items()}
    return {
        "CAC1-02": averages({"CAC over KM": flat(over_km)}, _near(4.63, 0.5)),
        "CAC1-24": averages(over_base, _from_to(("titanic", 3.26), ("diabetes", 91.5))),
        "CAC1-25": averages(over_km, _from_to(("titanic", 1.85), ("credit", 15.07))),
        "CAC1-27": averages(over_km, _within(0.6, 78.0)),
        "CAC1-30": averages(over_km, _all_positive),
        "CAC1-34": every(
            averages({"over FNN": flat(paired(neural, 2, 0))}, _near(2.09)),
            averages({"over DMNN": flat(paired(neural, 2, 1))}, _near(0.44, 0.4)),
        ),
    }


def _count_rules() -> dict[str, Rule]:
    """Return the claims of v1 on how often CAC is better or best."""
    v1 = triples("cac_v1", V1_SETS, V1_BASES)
    in_folds = triples("cac_v1", V1_SETS, V1_BASES, folds=True)
    classic = {name: rows[:-1] for name, rows in v1.items()}
    over_km, over_base = paired(v1, 2, 1), paired(v1, 2, 0)
    best = {name: ([row[2] for row in rows], [row[1] for row in rows]) for name, rows in v1.items()}
    return {
        "CAC1-01": beats(flat(over_km)),
        "CAC1-26": maxima(best, at_least=5),
        "CAC1-28": beats([*over_base["diabetes"], *over_km["diabetes"]]),
        "CAC1-31": _best_counts(v1, _V1_COUNTS["1"]),
        "CAC1-32": every(
            _best_counts(in_folds, _V1_COUNTS["4"]),
            *(beats(flat(paired(in_folds, 2, arm))) for arm in (0, 1)),
        ),
        "CAC1-33": _best_counts(v1, _V1_COUNTS["5"]),
        "CAC1-35": every(*(beats(flat(paired(classic, arm, 0))) for arm in (2, 1))),
    }


def _course_rules() -> dict[str, Rule]:
    """Return the claims on what happens from pass to pass, and on alpha."""
    cost = history(lambda curves: falls(curves.get("cost", [])))
    return {
        **dict.fromkeys(("CAC1-05", "CAC1-13", "CAC2-04", "DCAC-29"), cost),
        "CAC1-09": history(lambda curves: _rises(curves.get("separation", []))),
        "CAC1-10": history(lambda curves: _ends_higher(curves, 1)),
        "CAC1-11": history(lambda curves: _ends_higher(curves, -1)),
        "CAC1-29": _diabetes_separation,
    }


def _table5_rules() -> dict[str, Rule]:
    """Return the claims of DeepCAC on its Table 5, and on the silhouette of CAC."""
    deep = triples("deepcac", DEEPCAC_SETS, NINE)
    over_km = paired(deep, 2, 1)
    silhouettes = [
        tuple(cac_arm("deepcac", name, method, "silhouette") for method in ("km_lr", "cac_lr"))
        for name in DEEPCAC_SETS
    ]
    return {
        "DCAC-02": beats(flat(over_km), share=20 / 27),
        "DCAC-03": every(*(beats(pairs, share=0.51) for pairs in over_km.values())),
        "DCAC-04": every(*(beats(flat(paired(deep, arm, 0))) for arm in (2, 1))),
        "DCAC-17": beats([(km, cac) for km, cac in silhouettes]),
    }


def _v2_rules() -> dict[str, Rule]:
    def arms(metric: str, *methods: str) -> dict[str, list[Arm]]:
        return {
            name: [cac_arm("cac_v2", name, method, metric) for method in methods]
            for name in V2_SETS
        }

    def over(metric: str, better: str, *worse: str, ties_count: bool = False) -> Rule:
        """On 5 of 7 data sets the one is above (or equal to) all the others."""
        groups = {name: (row[:1], row[1:]) for name, row in arms(metric, better, *worse).items()}
        return maxima(groups, at_least=5, ties_count=ties_count)

    def rival(metric: str, ours: str) -> Rule:
        """Superior or comparable to the earlier methods on every data set."""
        others = ("ec3", "dmnn", "km_lr")
        pairs = [
            (row[0], other) for row in arms(metric, ours, *others).values() for other in row[1:]
        ]
        return not_below(pairs)

    best_f1 = ("cac_lr", "dmnn", "ec3", "dmnn", "cac_lr", "cac_dmnn", "cac_dmnn")
    best_auc = ("cac_lr", "km_lr", "cac_dmnn", "cac_lr", "dmnn", "cac_dmnn", "lr")

    def winners(metric: str, best: Sequence[str]) -> Rule:
        pairs = zip(arms(metric, *V2_METHODS).items(), best, strict=True)
        return best_is(
            {name: (row, cac_arm("cac_v2", name, method, metric)) for (name, row), method in pairs}
        )

    against_ec3 = arms("f1", "cac_lr", "cac_dmnn", "ec3")
    return {
        "CAC2-01": every(
            *(rival(metric, ours) for ours in ("cac_lr", "cac_dmnn") for metric in ("f1", "auroc"))
        ),
        "CAC2-13": over("f1", "cac_lr", "lr", "km_lr", ties_count=True),
        "CAC2-14": over("f1", "cac_dmnn", "dmnn"),
        "CAC2-15": maxima(
            {name: (row[:2], row[2:]) for name, row in against_ec3.items()}, at_least=6
        ),
        "CAC2-16": every(over("auroc", "cac_lr", "lr", "km_lr"), over("auroc", "cac_dmnn", "dmnn")),
        "CAC2-17": status(cac_arm("cac_v2", "diabetes", "ec3"), "timeout"),
        "CAC2-18": beats([(row[0], row[1]) for row in arms("f1", "ec3", "rf").values()]),
        "CAC2-19": winners("f1", best_f1),
        "CAC2-20": winners("auroc", best_auc),
    }
