"""Claims on training times (Finley and Joachims 2008, section 6.4, Figures 1 to 4)."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from deepcac_study.experiments.finished_clusterings import Measured
from deepcac_study.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Decision, Evidence
from deepcac_study.papers.gain import Gain
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.truth import Truth, by_share, either_way, together, told

Floats = npt.NDArray[np.float64]
Judge = Callable[[Measured], tuple[str, str]]

ITERATIVE, SPECTRAL = "iterative", "spectral"
LINEAR, NEARLY = 0.15, 0.3  # how far from 1 an exponent may be: the times are of a clock
_CUT = 0.1  # largest share of trainings that may have been stopped where their times are fitted
_STRAIGHT = 0.95  # least squared correlation of a straight line of logarithms


def time_rules(times: Measured | None) -> dict[str, Rule]:
    """Return the rules on Figures 1 to 4 and the times in the conclusion, by claim id."""
    return {name: measured_rule(times, judge, "times") for name, judge in _JUDGES.items()}


def measured_rule(found: Measured | None, judge: Judge, name: str) -> Rule:
    """Return a rule on one record of measurements, which knows the sound protocol alone."""

    def rule(evidence: Evidence) -> Decision:
        if evidence.protocol != "sound":
            return Decision(NOT_RUN, "measured in the sound protocol only")
        if found is None:
            return Decision(NOT_RUN, f"needs results/skmeans/{name}.json")
        verdict, figures = judge(found)
        return Decision(verdict, figures, (found.path,))

    return rule


def curve(times: Measured, axis: str, oracle: str, key: str = "seconds") -> tuple[Floats, Floats]:
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

    def careful(times: Measured) -> tuple[str, str]:
        rows = [row for axis in axes for row in times.rows("rows", axis=axis)]
        verdict, figures = judge(times)
        cut = sum(not row["converged"] for row in rows)
        if cut <= _CUT * len(rows):
            return verdict, figures
        return (
            NOT_RUN,
            f"{cut} of {len(rows)} trainings were stopped: {figures}",
        )

    return careful


def _linear(axis: str, limits: Mapping[str, float]) -> Judge:
    def judge(times: Measured) -> tuple[str, str]:
        found = {oracle: exponent(times, axis, oracle) for oracle in limits}
        right = [abs(found[oracle] - 1) <= limit for oracle, limit in limits.items()]
        figures = ", ".join(f"{oracle}: exponent {value:.2f}" for oracle, value in found.items())
        return together(right), figures + stopped(times, axis)

    return judge


def _show(x: Floats, y: Floats) -> str:
    return ", ".join(f"{a:g}: {b:.3g}" for a, b in zip(x, y, strict=True))


def _fewer_passes(times: Measured) -> tuple[str, str]:
    x, seconds = curve(times, "clusters", SPECTRAL)
    _, passes = curve(times, "clusters", SPECTRAL, "n_iter")
    falls = [bool((np.diff(values) < 0).all()) for values in (seconds, passes)]
    figures = f"seconds by k {_show(x, seconds)}; passes {_show(x, passes)}"
    verdict = HOLDS if all(falls) else PARTLY if any(falls) else FAILS
    return verdict, figures + stopped(times, "clusters")


def _slow_calls(times: Measured) -> tuple[str, str]:
    x, seconds = curve(times, "clusters", ITERATIVE)
    rows = times.rows("rows", axis="clusters", oracle=ITERATIVE, value=int(x[-1]))
    share = float(np.mean([row["slowest_call"] / row["oracle_seconds"] for row in rows]))
    longer, few = seconds[-1] > seconds[0], share > 0.25
    figures = f"seconds by k {_show(x, seconds)}; the slowest call takes {share:.0%} of all calls"
    return (HOLDS if longer and few else PARTLY if longer or few else FAILS), figures


def _slower(times: Measured) -> tuple[str, str]:
    right, texts = [], []
    for key, name in (("seconds", "seconds"), ("call", "seconds a call"), ("n_iter", "passes")):
        both = []
        for oracle in (SPECTRAL, ITERATIVE):
            rows = times.rows("rows", axis="features", oracle=oracle)
            own = [
                row["oracle_seconds"] / row["n_oracle_calls"] if key == "call" else row[key]
                for row in rows
            ]
            both.append(float(np.mean(own)))
        right.append(both[0] > both[1])
        texts.append(f"{name} {both[0]:.3g} v {both[1]:.3g}")
    verdict = by_share(float(np.mean(right)), 1.0)
    return verdict, f"Spectral v Iterative: {', '.join(texts)}" + stopped(times, "features")


def _polynomial(times: Measured) -> tuple[str, str]:
    x, y = curve(times, "points", SPECTRAL)
    straight = float(np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2)
    figures = f"exponent {exponent(times, 'points', SPECTRAL):.2f}, r2 of the line {straight:.3f}"
    return (HOLDS if straight >= _STRAIGHT else FAILS), figures + stopped(times, "points")


def _hump(times: Measured) -> tuple[str, str]:
    """Ask for more seconds at the end than at the start, and for a fall that is no noise.

    Each training set is timed at every number of points, so that a step has a difference a set.
    """
    x, y = curve(times, "points", ITERATIVE)
    sets = _by_set(times, "points", ITERATIVE)
    falls = [_positive(before - after) for before, after in pairwise(sets)]
    hump = True if True in falls else None if None in falls else False
    grows = _positive(sets[-1] - sets[0])
    verdict = FAILS if grows is False else together([grows, hump])
    return verdict, f"seconds by m / k {_show(x, y)}; falls: {told(falls)} steps"


def _by_set(times: Measured, axis: str, oracle: str) -> Floats:
    """Return the seconds of each training set, shape (values, sets)."""
    rows = sorted(times.rows("rows", axis=axis, oracle=oracle), key=lambda row: row["set"])
    values = sorted({row["value"] for row in rows})
    return np.array([[row["seconds"] for row in rows if row["value"] == x] for x in values])


def _positive(values: Floats) -> Truth:
    """Say whether a mean over training sets is above 0, by its 95 % interval."""
    found = Gain.pooled([values], 0.0)
    return True if found.low > 0 else False if found.high < 0 else None


def _predictable(times: Measured) -> tuple[str, str]:
    places = sorted({(row["axis"], row["value"]) for row in times.record["rows"]})
    spreads = np.array([[_spread(times, *place, o) for place in places] for o in _BOTH])
    right = int((spreads[1] < spreads[0]).sum())
    least, most = (int(end) for end in binom.interval(0.95, len(places), right / len(places)))
    figures = (
        f"relative spread smaller for Spectral in {right} of {len(places)} settings ({least} to "
        f"{most} in another run); medians {np.median(spreads[1]):.2f} v {np.median(spreads[0]):.2f}"
    )
    verdicts = {by_share(count / len(places), 0.9) for count in range(least, most + 1)}
    return either_way(verdicts), figures


def _spread(times: Measured, axis: str, value: int, oracle: str) -> float:
    rows = times.rows("rows", axis=axis, value=value, oracle=oracle)
    seconds = np.array([row["seconds"] for row in rows])
    return float(seconds.std() / seconds.mean())


def _all_linear(times: Measured) -> tuple[str, str]:
    axes: Sequence[str] = ("clusterings", "clusters", "features")
    found = {(axis, o): exponent(times, axis, o) for axis in axes for o in _BOTH}
    right = [value <= 1 + LINEAR for value in found.values()]
    figures = ", ".join(f"{axis} {o} {value:.2f}" for (axis, o), value in found.items())
    return by_share(float(np.mean(right)), 1.0), f"exponents: {figures}"


_BOTH = (ITERATIVE, SPECTRAL)
_JUDGES: dict[str, Judge] = {
    "SKM-12": _ended(_linear("clusterings", {SPECTRAL: LINEAR, ITERATIVE: NEARLY}), "clusterings"),
    "SKM-13": _fewer_passes,
    "SKM-14": _slow_calls,
    "SKM-15": _ended(_linear("features", {SPECTRAL: LINEAR, ITERATIVE: LINEAR}), "features"),
    "SKM-16": _slower,
    "SKM-17": _ended(_polynomial, "points"),
    "SKM-18": _hump,
    "SKM-19": _ended(_predictable, "clusterings", "clusters", "features", "points"),
    "SKM-20": _ended(_all_linear, "clusterings", "clusters", "features"),
}
