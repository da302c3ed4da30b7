"""Claims on what was measured (Finley and Joachims 2008).

Training times (section 6.4, Figures 1 to 4); the loss, the oracles and k-means itself on small sets
(4.3 to 5, 6.1.3).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy.stats import binom

from deepcac.types import Array
from deepcac_study.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, UNDECIDED
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Found
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.truth import Truth, by_share, counts_in_words, either_way, together
from deepcac_study.records.clusterings import Measured

Judge = Callable[[Measured], Found]

ITERATIVE, SPECTRAL = "iterative", "spectral"
LINEAR, NEARLY = 0.15, 0.3  # how far from 1 an exponent may be: the times are of a clock
_CUT = 0.1  # largest share of trainings that may have been stopped where their times are fitted
_LONG = 60.0  # seconds
_LARGER, _HEAVY = 4, 2.0  # the large cluster of the check, and what counts as a heavy bias
_ROUNDING = 1e-6  # of losses
_STRAIGHT = 0.95  # least squared correlation of a straight line of logarithms


def curve(times: Measured, axis: str, oracle: str, key: str = "seconds") -> tuple[Array, Array]:
    """Return the values of an axis and the mean over the training sets there."""
    rows = times.rows("rows", axis=axis, oracle=oracle)
    x = sorted({row["value"] for row in rows})
    mean = [np.mean([row[key] for row in rows if row["value"] == value]) for value in x]
    return np.array(x, dtype=np.float64), np.array(mean, dtype=np.float64)


def exponent(times: Measured, axis: str, oracle: str) -> float:
    """Return the slope of log seconds against log of the axis."""
    x, y = curve(times, axis, oracle)
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def stopped(times: Measured, axis: str) -> str:
    """Say how many of the trainings were stopped, since these hide a part of the time."""
    rows = times.rows("rows", axis=axis)
    count = sum(not row["converged"] for row in rows)
    limit = times.record["max_iter"]
    return f"; {count} of {len(rows)} stopped after {limit} passes" if count else ""


def _ended(judge: Judge, *axes: str) -> Judge:
    """Return a judge that decides nothing where too many trainings were stopped."""

    def careful(times: Measured) -> Found:
        rows = [row for axis in axes for row in times.rows("rows", axis=axis)]
        verdict, figures = judge(times)
        cut = sum(not row["converged"] for row in rows)
        if cut <= _CUT * len(rows):
            return verdict, figures
        return NOT_RUN, f"{cut} of {len(rows)} trainings were stopped: {figures}"

    return careful


def _linear(axis: str, limits: Mapping[str, float]) -> Judge:
    def judge(times: Measured) -> Found:
        exponents = {oracle: exponent(times, axis, oracle) for oracle in limits}
        right = [abs(exponents[oracle] - 1) <= limit for oracle, limit in limits.items()]
        figures = ", ".join(
            f"{oracle}: exponent {value:.2f}" for oracle, value in exponents.items()
        )
        return together(right), figures + stopped(times, axis)

    return judge


def _show(x: Array, y: Array) -> str:
    return ", ".join(f"{a:g}: {b:.3g}" for a, b in zip(x, y, strict=True))


def _fewer_passes(times: Measured) -> Found:
    x, seconds = curve(times, "clusters", SPECTRAL)
    _, passes = curve(times, "clusters", SPECTRAL, "n_iter")
    falls = [bool((np.diff(values) < 0).all()) for values in (seconds, passes)]
    figures = f"seconds by k {_show(x, seconds)}; passes {_show(x, passes)}"
    verdict = HOLDS if all(falls) else PARTLY if any(falls) else FAILS
    return verdict, figures + stopped(times, "clusters")


def _slow_calls(times: Measured) -> Found:
    x, seconds = curve(times, "clusters", ITERATIVE)
    rows = times.rows("rows", axis="clusters", oracle=ITERATIVE, value=int(x[-1]))
    share = float(np.mean([row["slowest_call"] / row["oracle_seconds"] for row in rows]))
    longer, few = seconds[-1] > seconds[0], share > 0.25
    figures = f"seconds by k {_show(x, seconds)}; the slowest call takes {share:.0%} of all calls"
    return (HOLDS if longer and few else PARTLY if longer or few else FAILS), figures


def _slower(times: Measured) -> Found:
    right, texts = [], []
    for key, name in (("seconds", "seconds"), ("call", "seconds a call"), ("n_iter", "passes")):
        both = []
        for oracle in (SPECTRAL, ITERATIVE):
            rows = times.rows("rows", axis="features", oracle=oracle)
            values = [
                row["oracle_seconds"] / row["n_oracle_calls"] if key == "call" else row[key]
                for row in rows
            ]
            both.append(float(np.mean(values)))
        right.append(both[0] > both[1])
        texts.append(f"{name} {both[0]:.3g} v {both[1]:.3g}")
    verdict = by_share(float(np.mean(right)), 1.0)
    return verdict, f"Spectral v Iterative: {', '.join(texts)}" + stopped(times, "features")


def _polynomial(times: Measured) -> Found:
    """Ask for a power of the points; growth that is no clear power may still be a polynomial."""
    x, y = curve(times, "points", SPECTRAL)
    straight = float(np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2)
    power = exponent(times, "points", SPECTRAL)
    verdict = FAILS if power <= 0 else HOLDS if straight >= _STRAIGHT else UNDECIDED
    figures = f"exponent {power:.2f}, r2 of a straight fit {straight:.3f}"
    return verdict, figures + stopped(times, "points")


def _hump(times: Measured) -> Found:
    """Ask for more seconds at the end than at the start, and for a fall that is no noise.

    Each training set is timed at every number of points, so that a step has a difference a set.
    """
    x, y = curve(times, "points", ITERATIVE)
    sets = _by_set(times, "points", ITERATIVE)
    falls = [_positive(before - after) for before, after in pairwise(sets)]
    hump = True if True in falls else None if None in falls else False
    grows = _positive(sets[-1] - sets[0])
    verdict = FAILS if grows is False else together([grows, hump])
    return verdict, f"seconds by m / k {_show(x, y)}; falls: {counts_in_words(falls)} steps"


def _by_set(times: Measured, axis: str, oracle: str) -> Array:
    """Return the seconds of each training set, shape (values, sets)."""
    rows = sorted(times.rows("rows", axis=axis, oracle=oracle), key=lambda row: row["set"])
    values = sorted({row["value"] for row in rows})
    return np.array([[row["seconds"] for row in rows if row["value"] == x] for x in values])


def _positive(values: Array) -> Truth:
    """Say whether a mean over training sets is above 0, by its 95 % interval."""
    pooled = Gain.pooled([values], 0.0)
    return True if pooled.low > 0 else False if pooled.high < 0 else None


def _predictable(times: Measured) -> Found:
    places = sorted({(row["axis"], row["value"]) for row in times.record["rows"]})
    spreads = np.array([[_spread(times, *place, o) for place in places] for o in _BOTH])
    right = int((spreads[1] < spreads[0]).sum())
    least, most = (int(end) for end in binom.interval(0.95, len(places), right / len(places)))
    figures = (
        f"relative spread smaller for Spectral in {right} of {len(places)} settings ({least} to "
        f"{most} in another run); medians {np.median(spreads[1]):.2f} v {np.median(spreads[0]):.2f}"
    )
    verdicts = {
        by_share(count / len(places), asked("SKM-19")(len(places)))
        for count in range(least, most + 1)
    }
    return either_way(verdicts), figures


def _spread(times: Measured, axis: str, value: int, oracle: str) -> float:
    rows = times.rows("rows", axis=axis, value=value, oracle=oracle)
    seconds = np.array([row["seconds"] for row in rows])
    return float(seconds.std() / seconds.mean())


def _all_linear(times: Measured) -> Found:
    axes: Sequence[str] = ("clusterings", "clusters", "features")
    exponents = {(axis, o): exponent(times, axis, o) for axis in axes for o in _BOTH}
    right = [value <= 1 + LINEAR for value in exponents.values()]
    figures = ", ".join(f"{axis} {o} {value:.2f}" for (axis, o), value in exponents.items())
    return by_share(float(np.mean(right)), 1.0), f"exponents: {figures}"


def _efficient(times: Measured) -> Found:
    """Ask whether every training ends, and within a minute; the minute is ours."""
    rows = times.record["rows"]
    ended = sum(row["converged"] for row in rows)
    slowest = max(row["seconds"] for row in rows)
    figures = f"{ended} of {len(rows)} trainings end, the slowest takes {slowest:.3g} s"
    return together([ended == len(rows), slowest < _LONG]), figures


_BOTH = (ITERATIVE, SPECTRAL)
ON_TIMES: dict[str, Judge] = {
    "SKM-12": _ended(_linear("clusterings", {SPECTRAL: LINEAR, ITERATIVE: NEARLY}), "clusterings"),
    "SKM-13": _fewer_passes,
    "SKM-14": _slow_calls,
    "SKM-15": _ended(_linear("features", {SPECTRAL: LINEAR, ITERATIVE: LINEAR}), "features"),
    "SKM-16": _slower,
    "SKM-17": _ended(_polynomial, "points"),
    "SKM-18": _hump,
    "SKM-19": _ended(_predictable, "clusterings", "clusters", "features", "points"),
    "SKM-20": _ended(_all_linear, "clusterings", "clusters", "features"),
    "SKM-31": _efficient,
}


def _ends(checks: Measured) -> Found:
    rows = checks.rows("training")
    right = [row["converged"] and row["n_cuts"] <= row["most_cuts"] for row in rows]
    most, least = max(row["n_cuts"] for row in rows), min(row["most_cuts"] for row in rows)
    figures = (
        f"{sum(right)} of {len(rows)} trainings end within the bound; at most {most} constraints, "
        f"the least bound is {least:.2g}"
    )
    return by_share(sum(right) / len(rows), 1.0), figures


def _misses(checks: Measured) -> Found:
    rows = checks.rows("training", oracle="iterative")
    missed = sum(row["missed"] for row in rows)
    above = sum(row["above_slack"] for row in rows)
    figures = (
        f"Iterative, {len(rows)} trainings: {missed} examples with a violated constraint that was "
        f"not found, {above} with a training loss above their slack"
    )
    return (HOLDS if missed and above else PARTLY if missed or above else FAILS), figures


def _constrains(checks: Measured) -> Found:
    rows = checks.rows("training", oracle="spectral")
    wrong = sum(row["missed"] + row["above_slack"] for row in rows)
    other = {row["seed"]: row for row in checks.rows("training", oracle="iterative")}
    larger = sum(row["dual_objective"] >= other[row["seed"]]["dual_objective"] for row in rows)
    figures = (
        f"Spectral: {wrong} examples with a violated constraint or a loss above their slack; the "
        f"objective is above Iterative's in {larger} of {len(rows)}"
    )
    return (HOLDS if not wrong and larger == len(rows) else FAILS), figures


def _properties(checks: Measured) -> Found:
    deviations = checks.record["loss"]
    figures = ", ".join(f"{name} up to {value:.1g}" for name, value in deviations.items())
    return (HOLDS if max(deviations.values()) < _ROUNDING else FAILS), f"deviations: {figures}"


def _biased(checks: Measured) -> Found:
    """Ask whether Rand charges twice as much, or more, for each item astray of a large cluster."""
    by_name = {row["cluster"]: row for row in checks.rows("large_clusters")}
    rand, delta = (
        by_name["large"][loss] / by_name["small"][loss] / _LARGER for loss in ("rand", "delta")
    )
    figures = (
        f"a misplaced item costs {rand:.1f} times as much in a cluster of 80 as in a cluster of 20 "
        f"by Rand, {delta:.1f} times by Delta"
    )
    return (HOLDS if rand > _HEAVY else FAILS), figures


def _incremental(checks: Measured) -> Found:
    counts = checks.record["kmeans"]
    better, worse = counts["incremental_better"], counts["batch_better"]
    figures = (
        f"point-incremental ends lower on {better} of {counts['matrices']} random K, batch on "
        f"{worse}; {counts['indefinite']} of them are indefinite"
    )
    return (HOLDS if better > worse and counts["indefinite"] else FAILS), figures


def _perfect(checks: Measured) -> Found:
    rows = checks.rows("noise_free")
    right = sum(row["loss"] < _ROUNDING for row in rows)
    figures = f"loss 0 on {right} of {len(rows)} clusterings left out"
    return by_share(right / len(rows), 1.0), figures


ON_THEORY: dict[str, Judge] = {
    "SKM-22": _ends,
    "SKM-23": _misses,
    "SKM-24": _constrains,
    "SKM-25": _properties,
    "SKM-26": _biased,
    "SKM-27": _incremental,
    "SKM-28": _perfect,
}
