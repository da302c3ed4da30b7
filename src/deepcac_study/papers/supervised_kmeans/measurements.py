"""Checks of claims on measurements (Finley and Joachims 2008).

Training times (section 6.4, Figures 1 to 4); the loss, the oracles and k-means itself on small sets
(4.3 to 5, 6.1.3).
"""

from functools import wraps
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import binom

from deepcac.types import Array
from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    NOT_RUN,
    UNDECIDED,
    Outcome,
    Truth,
    by_share,
    counts_in_words,
    either_way,
    together,
)
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.rule import Check, ClaimRule

ITERATIVE, SPECTRAL = "iterative", "spectral"
_BOTH = (ITERATIVE, SPECTRAL)
_LINEAR = 0.15  # how far from 1 an exponent may be: the times are of a clock
_CUT = 0.1  # largest share of trainings that may have been stopped where their times are fitted
_LONG = 60.0  # seconds
_LARGER, _HEAVY = 4, 2.0  # the large cluster of the check, and what counts as a heavy bias
_ROUNDING = 1e-6  # of losses
_STRAIGHT = 0.95  # least squared correlation of a straight line of logarithms


def curve(rows: pd.DataFrame, oracle: str, key: str = "seconds") -> "pd.Series[float]":
    """Return the mean of `key` over the training sets at each value of the axis."""
    return rows[rows["oracle"] == oracle].groupby("value")[key].mean()


def exponent(rows: pd.DataFrame, oracle: str) -> float:
    """Return the slope of log seconds against log of the axis."""
    seconds = curve(rows, oracle)
    return float(np.polyfit(np.log(seconds.index), np.log(seconds), 1)[0])


def _stopped(rows: pd.DataFrame) -> str:
    """Return a text on how many trainings were stopped, whose times are too short."""
    count = int((rows["converged"] == 0).sum())
    limit = rows["limit"].iloc[0]
    return f"; {count} of {len(rows)} stopped after {limit:g} passes" if count else ""


def if_ended(check: Check) -> Check:
    """Return a check that stays open if too many trainings were stopped."""

    @wraps(check)
    def careful(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
        outcome = check(rows, rule)
        cut = int((rows["converged"] == 0).sum())
        if cut <= _CUT * len(rows):
            return outcome
        return Outcome(NOT_RUN, f"{cut} of {len(rows)} trainings were stopped: {outcome.figures}")

    return careful


@if_ended
def linear(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the exponents are no farther from 1 than the thresholds."""
    exponents = {oracle: exponent(rows, oracle) for oracle in rule.named_numbers}
    right = [abs(exponents[oracle] - 1) <= limit for oracle, limit in rule.named_numbers.items()]
    figures = ", ".join(f"{oracle}: exponent {value:.2f}" for oracle, value in exponents.items())
    return Outcome(together(right), figures + _stopped(rows))


def _show(values: "pd.Series[float]") -> str:
    return ", ".join(f"{a:g}: {b:.3g}" for a, b in values.items())


def fewer_passes(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether Spectral's seconds and passes fall from step to step."""
    seconds, passes = (curve(rows, SPECTRAL, key) for key in ("seconds", "n_iter"))
    falls = [bool((np.diff(values) < 0).all()) for values in (seconds, passes)]
    figures = f"seconds by k {_show(seconds)}; passes {_show(passes)}"
    return Outcome(together(falls), figures + _stopped(rows))


def slow_calls(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether Iterative takes longer with most clusters, owing to single slow calls."""
    seconds = curve(rows, ITERATIVE)
    largest = rows[(rows["oracle"] == ITERATIVE) & (rows["value"] == seconds.index[-1])]
    slowest, calls = (largest[name].to_numpy() for name in ("slowest_call", "oracle_seconds"))
    share = float(np.mean(slowest / calls))
    longer, few = bool(seconds.iloc[-1] > seconds.iloc[0]), share > 0.25
    figures = f"seconds by k {_show(seconds)}; the slowest call takes {share:.0%} of all calls"
    return Outcome(together([longer, few]), figures)


def slower(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether Spectral is slower: in total, per call, and in passes."""
    rows = rows.assign(call=rows["oracle_seconds"] / rows["n_oracle_calls"])
    means = rows.groupby("oracle")[["seconds", "call", "n_iter"]].mean()
    spectral, iterative = means.loc[SPECTRAL], means.loc[ITERATIVE]
    words = {"seconds": "seconds", "call": "seconds a call", "n_iter": "passes"}
    texts = [f"{word} {spectral[key]:.3g} v {iterative[key]:.3g}" for key, word in words.items()]
    slower = [spectral[key] > iterative[key] for key in words]
    verdict = by_share(float(np.mean(slower)), 1.0)
    return Outcome(verdict, f"Spectral v Iterative: {', '.join(texts)}" + _stopped(rows))


@if_ended
def polynomial(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for growth as a power of the points; without a clear power it may be polynomial."""
    seconds = curve(rows, SPECTRAL)
    straight = float(np.corrcoef(np.log(seconds.index), np.log(seconds))[0, 1] ** 2)
    power = exponent(rows, SPECTRAL)
    verdict = FAILS if power <= 0 else HOLDS if straight >= _STRAIGHT else UNDECIDED
    figures = f"exponent {power:.2f}, r2 of a straight fit {straight:.3f}"
    return Outcome(verdict, figures + _stopped(rows))


def hump(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for more seconds at the end than at the start, and for a significant fall.

    Each training set is timed at every number of points, so that a step has one difference per set.
    """
    timed = rows[rows["oracle"] == ITERATIVE]
    sets = timed.pivot(index="value", columns="set", values="seconds").to_numpy()
    falls = [_positive(before - after) for before, after in pairwise(sets)]
    humped = True if True in falls else None if None in falls else False
    grows = _positive(sets[-1] - sets[0])
    verdict = FAILS if grows is False else together([grows, humped])
    figures = f"seconds by m / k {_show(curve(rows, ITERATIVE))}"
    return Outcome(verdict, f"{figures}; falls: {counts_in_words(falls)} steps")


def _positive(values: Array) -> Truth:
    """Return whether a mean over training sets is above 0, by its 95 % interval."""
    pooled = Gain.pooled([values], 0.0)
    return True if pooled.low > 0 else False if pooled.high < 0 else None


@if_ended
def predictable(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check in how many settings Spectral's times vary less, with the error of that count."""
    seconds = rows.groupby(["axis", "value", "oracle"])["seconds"]
    spreads = (seconds.std(ddof=0) / seconds.mean()).unstack()
    n, right = len(spreads), int((spreads[SPECTRAL] < spreads[ITERATIVE]).sum())
    least, most = (int(end) for end in binom.interval(0.95, n, right / n))
    medians = spreads.median()
    figures = (
        f"relative spread smaller for Spectral in {right} of {n} settings ({least} to {most} in "
        f"another run); medians {medians[SPECTRAL]:.2f} v {medians[ITERATIVE]:.2f}"
    )
    verdicts = {by_share(count / n, rule.share(n)) for count in range(least, most + 1)}
    return Outcome(either_way(verdicts), figures)


@if_ended
def all_linear(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether no time grows faster than linearly."""
    exponents = {
        f"{axis} {oracle}": exponent(part, oracle)
        for axis, part in rows.groupby("axis", sort=False)
        for oracle in _BOTH
    }
    right = [value <= 1 + _LINEAR for value in exponents.values()]
    figures = ", ".join(f"{name} {value:.2f}" for name, value in exponents.items())
    return Outcome(by_share(float(np.mean(right)), 1.0), f"exponents: {figures}")


def efficient(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether every training ends within a minute, our choice of a limit."""
    ended, slowest = int(rows["converged"].sum()), rows["seconds"].max()
    figures = f"{ended} of {len(rows)} trainings end, the slowest takes {slowest:.3g} s"
    return Outcome(together([ended == len(rows), bool(slowest < _LONG)]), figures)


def ends(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether every training ends within the bound on its constraints."""
    right = int((rows["converged"].astype(bool) & (rows["n_cuts"] <= rows["most_cuts"])).sum())
    figures = (
        f"{right} of {len(rows)} trainings end within the bound; at most {rows['n_cuts'].max():g} "
        f"constraints, the least bound is {rows['most_cuts'].min():.2g}"
    )
    return Outcome(by_share(right / len(rows), 1.0), figures)


def misses(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for violated constraints that the oracle missed, and for losses above the slack."""
    missed, above = (int(rows[name].sum()) for name in ("missed", "above_slack"))
    figures = (
        f"Iterative, {len(rows)} trainings: {missed} examples with a violated constraint that was "
        f"not found, {above} with a training loss above their slack"
    )
    return Outcome(together([missed > 0, above > 0]), figures)


def constrains(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether Spectral is feasible, and its objective above Iterative's."""
    spectral, other = (rows[rows["oracle"] == name] for name in (SPECTRAL, ITERATIVE))
    wrong = int((spectral["missed"] + spectral["above_slack"]).sum())
    pairs = spectral.merge(other, on="seed")
    larger = int((pairs["dual_objective_x"] >= pairs["dual_objective_y"]).sum())
    figures = (
        f"Spectral: {wrong} examples with a violated constraint or a loss above their slack; the "
        f"objective is above Iterative's in {larger} of {len(spectral)}"
    )
    return Outcome(HOLDS if not wrong and larger == len(spectral) else FAILS, figures)


def properties(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the loss has the properties that the paper states, up to rounding."""
    deviations = rows.drop(columns=["source", "protocol", "path"]).iloc[0].astype(float)
    figures = ", ".join(f"{name} up to {value:.1g}" for name, value in deviations.items())
    return Outcome(HOLDS if deviations.max() < _ROUNDING else FAILS, f"deviations: {figures}")


def biased(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether Rand charges at least twice as much per misplaced item of a large cluster."""
    by_size = rows.set_index("cluster")[["rand", "delta"]]
    rand, delta = (by_size.loc["large"] / by_size.loc["small"] / _LARGER).to_numpy()
    figures = (
        f"a misplaced item costs {rand:.1f} times as much in a cluster of 80 as in a cluster of 20 "
        f"by Rand, {delta:.1f} times by Delta"
    )
    return Outcome(HOLDS if rand > _HEAVY else FAILS, figures)


def incremental(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether point-incremental k-means is better than batch, also if K is indefinite."""
    names = ["incremental_better", "batch_better", "matrices", "indefinite"]
    better, worse, n, indefinite = rows[names].to_numpy(dtype=np.int64)[0]
    figures = (
        f"point-incremental ends lower on {better} of {n} random K, batch on {worse}; {indefinite} "
        "of them are indefinite"
    )
    return Outcome(HOLDS if better > worse and indefinite else FAILS, figures)


def perfect(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the loss is 0 on data without noise."""
    right = int((rows["loss"] < _ROUNDING).sum())
    figures = f"loss 0 on {right} of {len(rows)} clusterings left out"
    return Outcome(by_share(right / len(rows), 1.0), figures)
