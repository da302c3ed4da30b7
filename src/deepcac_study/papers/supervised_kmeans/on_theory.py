"""Claims on the loss, the oracles and k-means itself, measured on small sets (4.3 to 5, 6.1.3)."""

from collections.abc import Callable

from deepcac_study.experiments.finished_clusterings import Measured
from deepcac_study.papers.evidence import FAILS, HOLDS, PARTLY
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.supervised_kmeans.on_times import measured_rule
from deepcac_study.papers.truth import by_share

_ROUNDING = 1e-6


def check_rules(checks: Measured | None) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {name: measured_rule(checks, judge, "checks") for name, judge in _JUDGES.items()}


def _ends(checks: Measured) -> tuple[str, str]:
    rows = checks.rows("training")
    right = [row["converged"] and row["n_cuts"] <= row["most_cuts"] for row in rows]
    most, least = max(row["n_cuts"] for row in rows), min(row["most_cuts"] for row in rows)
    figures = (
        f"{sum(right)} of {len(rows)} trainings end within the bound; at most {most} constraints, "
        f"the least bound is {least:.2g}"
    )
    return by_share(sum(right) / len(rows), 1.0), figures


def _misses(checks: Measured) -> tuple[str, str]:
    rows = checks.rows("training", oracle="iterative")
    missed = sum(row["missed"] for row in rows)
    above = sum(row["above_slack"] for row in rows)
    figures = (
        f"Iterative, {len(rows)} trainings: {missed} examples with a violated constraint that was "
        f"not found, {above} with a training loss above their slack"
    )
    return (HOLDS if missed and above else PARTLY if missed or above else FAILS), figures


def _constrains(checks: Measured) -> tuple[str, str]:
    rows = checks.rows("training", oracle="spectral")
    wrong = sum(row["missed"] + row["above_slack"] for row in rows)
    other = {row["seed"]: row for row in checks.rows("training", oracle="iterative")}
    larger = sum(row["dual_objective"] >= other[row["seed"]]["dual_objective"] for row in rows)
    figures = (
        f"Spectral: {wrong} examples with a violated constraint or a loss above their slack; the "
        f"objective is above Iterative's in {larger} of {len(rows)}"
    )
    return (HOLDS if not wrong and larger == len(rows) else FAILS), figures


def _properties(checks: Measured) -> tuple[str, str]:
    found = checks.record["loss"]
    figures = ", ".join(f"{name} up to {value:.1g}" for name, value in found.items())
    return (HOLDS if max(found.values()) < _ROUNDING else FAILS), f"deviations: {figures}"


def _biased(checks: Measured) -> tuple[str, str]:
    ratio = {}
    by_name = {row["cluster"]: row for row in checks.rows("large_clusters")}
    for loss in ("delta", "rand"):
        ratio[loss] = by_name["large"][loss] / by_name["small"][loss]
    figures = (
        "a quarter of a cluster of 80 astray costs "
        f"{ratio['rand']:.1f} times (Rand) and {ratio['delta']:.1f} times (Delta) what a quarter of"
        " a cluster of 20 does"
    )
    return (HOLDS if ratio["rand"] > 2 * ratio["delta"] else FAILS), figures


def _incremental(checks: Measured) -> tuple[str, str]:
    found = checks.record["kmeans"]
    better, worse = found["incremental_better"], found["batch_better"]
    figures = (
        f"point-incremental ends lower on {better} of {found['matrices']} random K, batch on "
        f"{worse}; {found['indefinite']} of them are indefinite"
    )
    return (HOLDS if better > worse and found["indefinite"] else FAILS), figures


def _perfect(checks: Measured) -> tuple[str, str]:
    rows = checks.rows("noise_free")
    right = sum(row["loss"] < _ROUNDING for row in rows)
    figures = f"loss 0 on {right} of {len(rows)} clusterings left out"
    return by_share(right / len(rows), 1.0), figures


_JUDGES: dict[str, Callable[[Measured], tuple[str, str]]] = {
    "SKM-22": _ends,
    "SKM-23": _misses,
    "SKM-24": _constrains,
    "SKM-25": _properties,
    "SKM-26": _biased,
    "SKM-27": _incremental,
    "SKM-28": _perfect,
}
