"""Checks of claims on class decomposition: gains, the search, and theory."""

from collections.abc import Iterable, Sequence
from functools import wraps
from math import comb, factorial

import numpy as np
import pandas as pd
from scipy.stats import linregress, spearmanr, t

from deepcac.decomposition.configuration import bell
from deepcac.types import Array
from deepcac_study.catalogue.protocol import SOUND, protocol_folder
from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Outcome,
    Truth,
    by_share,
    counts_in_words,
    either_way,
    settled,
    together,
)
from deepcac_study.papers.class_decomposition.gains import (
    LEVEL,
    LINEAR,
    PRINT,
    TABLE_1,
    against_rest,
    p_values,
    printed_gains,
    values_by_dataset,
)
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.rule import Check, ClaimRule
from deepcac_study.records.decompositions import BASES

_ENOUGH = 0.75  # share of the table's data sets below which nothing is decided
_NEAR = 1.0  # points between two averages over the table
_SAME = 2.0  # points within which two accuracies are almost the same, as in the ledger
_OUTSTANDING = ("uci_vehicle", "uci_vowel")  # where the paper finds the linear gain significant
_CLUSTERS, _ROUNDED = 3.6, 0.05  # a class, section 6.2
_STRAIGHT = 0.25  # how far from 1 the exponent of what is called proportional may be
_WEAK_LEVEL = 0.05  # of correlations, of which the paper names no level


def by_machine(check: Check) -> Check:
    """Apply a check to linear machines one against one and one against rest: the paper is silent.

    With fewer than three quarters of the data sets it stays open. As published the machines are one
    against rest (`gains.GainTable`).
    """

    @wraps(check)
    def of_both(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
        protocol, wanted = rows["protocol"].iloc[0], printed_datasets(TABLE_1)
        if protocol == PRINT:
            return check(rows, rule)
        rows = rows[rows["dataset"].isin(wanted)]
        n = rows["dataset"].nunique()
        count = f"{n} of {len(wanted)} data sets"
        if n < _ENOUGH * len(wanted):
            target = f"results/{protocol_folder(protocol)}decomposition/*.json"
            return Outcome(NOT_RUN, f"needs {target}; {count} have a record")
        verdict, figures, *_ = _of_machines(check, rows, rule)
        return Outcome(verdict, f"{figures}; on {count}" if n < len(wanted) else figures, rows)

    return of_both


def _of_machines(check: Check, rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check machines one against rest and one against one; join unequal outcomes."""
    other = against_rest(rows)
    rest, pairwise = check(other, rule), check(rows[rows["base"] != "svm_rest"], rule)
    if rest == pairwise:
        return rest
    linear = set(values_by_dataset(other, LINEAR))
    if lacking := [name for name in other["dataset"].unique() if name not in linear]:
        rest = Outcome(rest.verdict, f"{rest.figures}; {_listed(lacking)} lacks these machines")
    if rows["protocol"].iloc[0] != SOUND.name:
        return rest
    figures = (
        f"one against one: {pairwise.verdict}, {pairwise.figures} | "
        f"one against rest: {rest.verdict}, {rest.figures}"
    )
    return Outcome(either_way((pairwise.verdict, rest.verdict)), figures)


def mean_gain(rows: pd.DataFrame, base: str) -> Gain:
    """Return the gain averaged over the data sets, with its interval over the runs."""
    return _over_runs(rows, values_by_dataset(rows, base).values())


def _over_runs(rows: pd.DataFrame, gains: Iterable[Array]) -> Gain:
    """Return the pooled gain with its test; of printed means, the mean alone."""
    if rows["protocol"].iloc[0] == PRINT:
        return Gain.exact(float(np.mean([*gains])))
    train, test = rows[["train_share", "test_share"]].iloc[0]
    return Gain.pooled([*gains], test / (test + train))


def _means(rows: pd.DataFrame, base: str, column: str = "gain") -> dict[str, float]:
    return {
        name: float(values.mean()) for name, values in values_by_dataset(rows, base, column).items()
    }


def _gains(rows: pd.DataFrame, base: str) -> dict[str, Gain]:
    """Return the gain by data set, with its interval over the runs."""
    return {
        name: _over_runs(rows, [gains]) for name, gains in values_by_dataset(rows, base).items()
    }


def _significant(rows: pd.DataFrame, base: str) -> list[str]:
    """Return the data sets whose gain, of either sign, is significant at the paper's level."""
    return [name for name, p in p_values(rows, base).items() if p < LEVEL]


@by_machine
def average_gain(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for an average gain of a base that is positive, and near the claimed one."""
    (claimed,), base = rule.numbers, rule.methods
    ours, printed = mean_gain(rows, base), float(np.mean([*printed_gains(base).values()]))
    return Outcome(ours.near(claimed, _NEAR), f"{ours} points; printed column {printed:+.2f}")


@by_machine
def increases(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for an average gain of each base classifier whose interval is above 0."""
    gains = {name: mean_gain(rows, base) for base, name in BASES.items()}
    figures = ", ".join(f"{name} {gain} points" for name, gain in gains.items())
    return Outcome(together([gain.positive for gain in gains.values()]), figures)


@by_machine
def significant_gains(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for a number of significant gains."""
    (claimed,), base = rule.numbers, rule.methods
    gains = _means(rows, base)
    better = [name for name in _significant(rows, base) if gains[name] > 0]
    return Outcome(by_share(len(better) / claimed, 1.0), f"{len(better)}: {_listed(better)}")


@by_machine
def same_but_two(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for significant linear gains on Vehicle and Vowel, and almost none elsewhere."""
    gains, sure = _means(rows, LINEAR), _significant(rows, LINEAR)
    large = {name: gains[name] for name in _OUTSTANDING if name in gains}
    two = all(gain > 0 and name in sure for name, gain in large.items())
    far = [name for name, gain in gains.items() if name not in large and abs(gain) > _SAME]
    figures = ", ".join(
        f"{name} {gain:+.2f}{' *' if name in sure else ''}" for name, gain in large.items()
    )
    figures += f"; more than {_SAME:g} points elsewhere: {_listed(far)}"
    return Outcome(together([two, not far]), figures)


@by_machine
def mild_drops(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for losses of the linear machines, significant ones and ones shown to be small.

    A test that is not significant does not show that there is no loss.
    """
    sure = _significant(rows, LINEAR)
    drops = {name: gain for name, gain in _gains(rows, LINEAR).items() if gain.mean < 0}
    if not drops:
        return Outcome(FAILS, "no drop")
    grave = [name for name in drops if name in sure]
    mild: list[Truth] = [
        False if name in sure else True if gain.low > -_SAME else None
        for name, gain in drops.items()
    ]
    figures = f"{len(drops)} drops, significant: {_listed(grave)}; within {_SAME:g} points"
    return Outcome(settled(mild, rule.share(len(mild))), f"{figures} {counts_in_words(mild)}")


@by_machine
def bayes_more_than_linear(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for a larger average gain of naive Bayes, and a small one of the linear machines."""
    nb, svm = (mean_gain(rows, base) for base in ("nb", LINEAR))
    bayes, linear = values_by_dataset(rows, "nb"), values_by_dataset(rows, LINEAR)
    more = _over_runs(rows, [bayes[name] - gains for name, gains in linear.items()])
    figures = f"naive Bayes {nb.mean:+.2f} points, linear {svm.mean:+.2f}, difference {more}"
    if more.positive is None:
        return Outcome(UNDECIDED, figures)
    little = nb.mean > _NEAR >= abs(svm.mean)
    return Outcome((HOLDS if little else PARTLY) if more.positive else FAILS, figures)


@by_machine
def seldom_lower(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for equal or higher accuracy on most data sets with both base classifiers."""
    verdicts, texts = [], []
    for base, name in (("nb", "naive Bayes"), (LINEAR, "linear")):
        answers = [_not_lower(gain) for gain in _gains(rows, base).values()]
        verdicts.append(settled(answers, rule.share(len(answers))))
        texts.append(f"{name} {counts_in_words(answers)}")
    held = [None if v == UNDECIDED else v == HOLDS for v in verdicts]
    return Outcome(together(held), f"equal or higher: {', '.join(texts)}")


def _not_lower(gain: Gain) -> Truth:
    """Return whether a loss of more than a point is excluded; open or False otherwise."""
    if gain.high < 0:
        return False
    return True if gain.low > -_NEAR else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix("uci_") for name in names) or "none"


@by_machine
def drops_after_gains(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for validation gains on the data sets on which linear accuracy drops."""
    test, validation = _means(rows, LINEAR), _means(rows, LINEAR, "validation_gain")
    gains = [validation[name] for name, gain in test.items() if gain < 0]
    if not gains:
        return Outcome(UNDECIDED, "no data set drops")
    figures = (
        f"validation gains of {len(gains)} drops: {min(gains):+.2f} to {max(gains):+.2f} points"
    )
    return Outcome(by_share(float(np.mean(np.array(gains) > 0)), rule.share(len(gains))), figures)


@by_machine
def merged_back(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check that runs without a validation gain are fully merged, by Algorithm 2, and equal."""
    idle = rows[(rows["validation_gain"] <= 0) & (rows["most_clusters"] > 1)]
    if idle.empty:
        return Outcome(UNDECIDED, "every run gains on its validation rows")
    whole, reverted = idle["whole"].astype(bool), idle["reverted"].astype(bool)
    equal, merged = int((whole & (idle["gain"] == 0)).sum()), int((whole & ~reverted).sum())
    figures = (
        f"{equal} of {len(idle)} runs without a validation gain equal the original; "
        f"merges without a restored class reach it in {merged}, the others are restored"
    )
    verdict = FAILS if equal < len(idle) else HOLDS if merged == equal else PARTLY
    return Outcome(verdict, figures)


@by_machine
def clusters_of_a_class(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the claimed number lies in, or near, the interval of the mean over runs."""
    pooled = Gain.pooled([*values_by_dataset(rows, "nb", "clusters").values()], 0.5)
    error = 0.0 if np.isinf(pooled.low) else pooled.mean - pooled.low
    gap = abs(pooled.mean - _CLUSTERS)
    figures = f"{pooled.mean:.2f} ± {error:.2f} clusters a class on average, printed {_CLUSTERS:g}"
    near = gap <= error + _ROUNDED
    return Outcome(HOLDS if near else PARTLY if gap <= 1 else FAILS, figures)


@by_machine
def merging_helps(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether merged clusters are better than all clusters, on test rows."""
    means, texts = [], []
    for base, name in BASES.items():
        gains = [*_means(rows, base, "gain_over_separate").values()]
        means.append(np.mean(gains))
        higher = sum(gain > 0 for gain in gains)
        texts.append(f"{name} {means[-1]:+.2f} points, higher on {higher} of {len(gains)}")
    return Outcome(together([bool(mean > 0) for mean in means]), "; ".join(texts))


@by_machine
def shortcut(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check by how much fitting only the changed discriminants reduces their number.

    The cost is reduced if every factor is above 1. It is reduced in proportion to the classes if
    the factor grows as their number to a power whose 95 % interval over the data sets lies near 1.
    """
    bayes = rows[rows["base"] == "nb"].groupby("dataset", sort=False)
    factors = (bayes["fits_if_all"].sum() / bayes["fits"].sum().clip(lower=1)).to_numpy()
    power = _exponent(bayes["n_classes"].first().to_numpy(), factors)
    figures = (
        f"naive Bayes: a factor of {np.median(factors):.1f} in the median, {min(factors):.1f} to "
        f"{max(factors):.1f}; it grows as the classes to the power {power}"
    )
    low, high = 1 - _STRAIGHT, 1 + _STRAIGHT
    proportional = power.low >= low and power.high <= high
    answer = proportional or (None if power.reaches(low, high) else False)
    return Outcome(together([bool(min(factors) > 1), answer]), figures)


def _exponent(first: np.ndarray, second: np.ndarray) -> Gain:
    """Return the slope of the logarithms: 1 where the second is proportional to the first."""
    if np.ptp(first) == 0:
        return Gain(0.0, -np.inf, np.inf)
    fit = linregress(np.log(first), np.log(second))
    half = float(t.ppf(0.975, len(first) - 2) * fit.stderr)
    return Gain(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


@by_machine
def search_takes_longest(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the linear search, the longer of the two, takes more time than clustering.

    Where machines one against rest were not run, the time of one against one is a lower bound.
    """
    seconds = rows.groupby("dataset", sort=False)[["search_seconds", "clustering_seconds"]].last()
    search, clustering = seconds.to_numpy().T
    longer = int(np.sum(search > clustering))
    share = float(search.sum() / (search.sum() + clustering.sum()))
    figures = (
        f"the search takes longer than EM on {longer} of {len(seconds)} data sets; "
        f"{share:.0%} of the time over all"
    )
    verdict = HOLDS if longer > len(seconds) / 2 else PARTLY if share > 0.5 else FAILS
    return Outcome(verdict, figures)


@by_machine
def grows_with_clusters(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the mean gain grows with the clusters per class, by rank correlation."""
    texts, rises = [], list[Truth]()
    for base, name in BASES.items():
        clusters, gains = _means(rows, base, "clusters"), _means(rows, base)
        rho, p = _rank_correlation([*clusters.values()], [*gains.values()])
        rises.append(rho > 0 if p < _WEAK_LEVEL else None)
        texts.append(f"{name} {rho:.2f} (p = {p:.2g})")
    return Outcome(together(rises), "rank correlation: " + ", ".join(texts))


def _rank_correlation(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return Spearman's coefficient and its p; 0 and 1 where nothing varies."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0, 1.0
    correlation = spearmanr(first, second)
    return float(correlation.statistic), float(correlation.pvalue)


def bias_and_variance(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for a decrease of the bias that is larger than that of the variance."""
    fine, texts = [], []
    for base, name in BASES.items():
        bias, variance = (rows.loc[rows["base"] == base, part] for part in ("bias", "variance"))
        fine.append(bool(bias.mean() < 0 and variance.mean() < -bias.mean()))
        texts.append(
            f"{name}: bias {bias.mean():+.2f} points (lower on {(bias < 0).sum()} of {len(bias)}), "
            f"variance {variance.mean():+.2f}"
        )
    return Outcome(together(fine), "; ".join(texts))


def capacity(_: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the VC dimensions of section 4.

    Polynomials of degree k in n variables have C(n + k, k) coefficients, which is their VC
    dimension: between n^k / k! and, for k > 1, (n + 1)^k. Convex polygons of k sides: among 2k + 1
    points on a circle, one of the two classes has at most k points, and k sides cut these off or
    connect them.
    """
    bounded = all(
        n**k / factorial(k) <= comb(n + k, k) <= (n + 1) ** k
        for n in range(1, 30)
        for k in range(1, 9)
    )
    few = all(min(p, 2 * k + 1 - p) <= k for k in range(1, 30) for p in range(2 * k + 2))
    figures = (
        "C(n + k, k) coefficients lie between n^k / k! and (n + 1)^k; k sides of a "
        "convex polygon shatter 2k + 1 points. Groups of clusters are no convex polygons"
    )
    return Outcome(HOLDS if bounded and few else FAILS, figures)


def configurations_bounded(_: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the number of configurations of a class, its set partitions, against 2^n."""
    above = [n for n in range(1, 31) if bell(n) > 2**n]
    if not above:
        return Outcome(HOLDS, "the Bell number stays below 2^n up to n = 30")
    n, last = above[0], 30
    figures = f"the Bell number {bell(n)} of n = {n} exceeds 2^{n} = {2**n}, and"
    return Outcome(FAILS, f"{figures} {bell(last) / 2**last:.1e} times 2^n at n = {last}")
