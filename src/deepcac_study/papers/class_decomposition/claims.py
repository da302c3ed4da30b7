"""The claims of class decomposition: on its table, on clusters and their merging, by theory."""

from collections.abc import Sequence
from math import comb, factorial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import linregress, spearmanr, t

from deepcac.decomposition.configuration import bell
from deepcac.scoring.statistics import Comparison
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.class_decomposition import gain_rules
from deepcac_study.papers.class_decomposition.gain_rules import TABLE_1, mean_gains
from deepcac_study.papers.evidence import FAILS, HOLDS, PARTLY, UNDECIDED
from deepcac_study.papers.names import names, printed_datasets
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Found, Rule, always, of_records, or_on_print
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.truth import Truth, by_share, together
from deepcac_study.records.decompositions import (
    BASES,
    DecompositionRecord,
    ResampledRecord,
)
from deepcac_study.records.reader import Findings

Records = Sequence[DecompositionRecord]

_CLUSTERS, _ROUNDED = 3.6, 0.05  # a class, section 6.2
_STRAIGHT = 0.25  # how far from 1 the exponent of what is called proportional may be
_WEAK_LEVEL = 0.05  # of correlations, of which the paper names no level


def drops_after_gains(records: Records) -> Found:
    """Look at the validation gains of the data sets on which linear accuracy drops."""
    linear = [record for record in records if "svm" in record.bases]
    drops = [record for record in linear if record.gains("svm").mean() < 0]
    if not drops:
        return UNDECIDED, "no data set drops"
    gains = [float(record.gains("svm", name="validation_accuracy").mean()) for record in drops]
    figures = (
        f"validation gains of {len(drops)} drops: {min(gains):+.2f} to {max(gains):+.2f} points"
    )
    share = asked("CDEC-06")(len(drops))
    return by_share(float(np.mean(np.array(gains) > 0)), share), figures


def merged_back(records: Records) -> Found:
    """Look at the runs without a validation gain: all merged, by Algorithm 2 itself, and equal."""
    idle = [row for record in records for base in BASES for row in _without_gain(record, base)]
    if not idle:
        return UNDECIDED, "every run gains on its validation rows"
    equal = sum(row["whole"] and row["gain"] == 0 for row in idle)
    merged = sum(row["whole"] and not row["reverted"] for row in idle)
    figures = (
        f"{equal} of {len(idle)} runs without a validation gain equal the original; "
        f"merges without a restored class reach it in {merged}, the others are restored"
    )
    verdict = FAILS if equal < len(idle) else HOLDS if merged == equal else PARTLY
    return verdict, figures


def _without_gain(record: DecompositionRecord, base: str) -> list[dict[str, Any]]:
    """Return the runs in which there was something to merge and nothing gained."""
    gains = record.gains(base)
    stalled = record.gains(base, name="validation_accuracy") <= 0
    return [
        {
            "whole": all(len(partition) == 1 for partition in row["configuration"]),
            "gain": gains[i],
            "reverted": row["reverted"],
        }
        for i, row in enumerate(record.rows(base, "greedy"))
        if stalled[i] and max(row["n_clusters"]) > 1
    ]


def clusters_of_a_class(records: Records) -> Found:
    """Ask whether the claimed number lies in the interval of the mean over our runs, or near it."""
    rows = [
        [np.mean(row["n_clusters"]) for row in record.rows("nb", "alone")] for record in records
    ]
    pooled = Gain.pooled(rows, 0.5)
    error = 0.0 if np.isinf(pooled.low) else pooled.mean - pooled.low
    gap = abs(pooled.mean - _CLUSTERS)
    figures = f"{pooled.mean:.2f} ± {error:.2f} clusters a class on average, printed {_CLUSTERS:g}"
    near = gap <= error + _ROUNDED
    return HOLDS if near else PARTLY if gap <= 1 else FAILS, figures


def merging_helps(records: Records) -> Found:
    """Compare the merged clusters with all clusters, on test rows."""
    means, texts = [], []
    for base, name in BASES.items():
        gains = [
            float(record.gains(base, over="separate").mean())
            for record in records
            if base in record.bases
        ]
        means.append(np.mean(gains))
        higher = sum(gain > 0 for gain in gains)
        texts.append(f"{name} {means[-1]:+.2f} points, higher on {higher} of {len(gains)}")
    above = [mean > 0 for mean in means]
    return HOLDS if all(above) else PARTLY if any(above) else FAILS, "; ".join(texts)


def shortcut(records: Records) -> Found:
    """Compare the discriminants fitted with those of fitting each configuration as a whole.

    The cost is cut where every factor is above 1. It is cut in proportion where the factor grows as
    the classes to a power whose 95 % interval over the data sets lies near 1.
    """
    factors = [_saved(record) for record in records]
    power = _exponent([record.n_classes for record in records], factors)
    figures = (
        f"naive Bayes: a factor of {np.median(factors):.1f} in the median, {min(factors):.1f} to "
        f"{max(factors):.1f}; it grows as the classes to the power {power}"
    )
    proportional = (
        True
        if power.low >= 1 - _STRAIGHT and power.high <= 1 + _STRAIGHT
        else None
        if power.reaches(1 - _STRAIGHT, 1 + _STRAIGHT)
        else False
    )
    return together([min(factors) > 1, proportional]), figures


def _exponent(first: Sequence[float], second: Sequence[float]) -> Gain:
    """Return the slope of the logarithms: 1 where the second is proportional to the first."""
    if np.ptp(first) == 0:
        return Gain(0.0, -np.inf, np.inf)
    fit = linregress(np.log(first), np.log(second))
    half = float(t.ppf(0.975, len(first) - 2) * fit.stderr)
    return Gain(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def _saved(record: DecompositionRecord) -> float:
    whole, fitted = (record.values("nb", "greedy", key).sum() for key in ("fits_if_all", "fits"))
    return float(whole / max(fitted, 1.0))


def search_takes_longest(records: Records) -> Found:
    """Compare the time of the linear search, the longer of the two, with that of clustering.

    Where machines one against rest were not run, one against one takes no longer than they would.
    """
    search = np.array([record.seconds("svm_greedy") for record in records])
    clustering = np.array([record.seconds("clustering") for record in records])
    longer = int(np.sum(search > clustering))
    share = float(search.sum() / (search.sum() + clustering.sum()))
    figures = (
        f"the search takes longer than EM on {longer} of {len(records)} data sets; "
        f"{share:.0%} of the time over all"
    )
    verdict = HOLDS if longer > len(records) / 2 else PARTLY if share > 0.5 else FAILS
    return verdict, figures


def grows_with_clusters(records: Records) -> Found:
    """Correlate the mean gain with the clusters a class, by rank."""
    texts, rises = [], list[Truth]()
    for base, name in BASES.items():
        clusters = [record.n_clusters for record in records if base in record.bases]
        rho, p = _rank_correlation(clusters, list(mean_gains(records, base).values()))
        rises.append(rho > 0 if p < _WEAK_LEVEL else None)
        texts.append(f"{name} {rho:.2f} (p = {p:.2g})")
    return together(rises), "rank correlation: " + ", ".join(texts)


def _rank_correlation(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Return Spearman's coefficient and its p; none (0 and 1) where nothing varies."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0, 1.0
    correlation = spearmanr(first, second)
    return float(correlation.statistic), float(correlation.pvalue)


def bias_and_variance(records: Sequence[ResampledRecord]) -> Found:
    """Ask for less bias, and for less variance than that."""
    fine, texts = [], []
    for base, name in BASES.items():
        bias, variance = (
            [record.change(base, part) for record in records] for part in ("bias", "variance")
        )
        fine.append(np.mean(bias) < 0 and np.mean(variance) < -np.mean(bias))
        lower = sum(change < 0 for change in bias)
        texts.append(
            f"{name}: bias {np.mean(bias):+.2f} points (lower on {lower} of {len(bias)}), "
            f"variance {np.mean(variance):+.2f}"
        )
    return HOLDS if all(fine) else PARTLY if any(fine) else FAILS, "; ".join(texts)


def capacity() -> Found:
    """Check the VC dimensions of section 4.

    Polynomials of degree k in n variables have C(n + k, k) coefficients, which is their VC
    dimension: between n^k / k! and, for k > 1, (n + 1)^k. Convex polygons of k sides: of 2k + 1
    points on a circle at most k are of one of the two classes, and k sides cut these off or
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
    return HOLDS if bounded and few else FAILS, figures


def configurations_bounded() -> Found:
    """Compare the number of configurations of a class, its set partitions, with 2^n."""
    above = [n for n in range(1, 31) if bell(n) > 2**n]
    if not above:
        return HOLDS, "the Bell number stays below 2^n up to n = 30"
    n, last = above[0], 30
    figures = f"the Bell number {bell(n)} of n = {n} exceeds 2^{n} = {2**n}, and"
    return FAILS, f"{figures} {bell(last) / 2**last:.1e} times 2^n at n = {last}"


_ON_TABLE: dict[str, gain_rules.Judge] = {
    "CDEC-01": gain_rules.average_gain("nb", 4.56),
    "CDEC-02": gain_rules.significant_gains("nb", 8),
    "CDEC-03": gain_rules.average_gain("svm", 0.89),
    "CDEC-04": gain_rules.same_but_two,
    "CDEC-05": gain_rules.mild_drops,
    "CDEC-09": gain_rules.bayes_more_than_linear,
    "CDEC-10": gain_rules.seldom_lower,
    "CDEC-18": gain_rules.increases,
}
_ON_RUNS: dict[str, gain_rules.Judge] = {
    "CDEC-06": drops_after_gains,
    "CDEC-07": merged_back,
    "CDEC-08": clusters_of_a_class,
    "CDEC-13": merging_helps,
    "CDEC-15": shortcut,
    "CDEC-16": search_takes_longest,
    "CDEC-17": grows_with_clusters,
}


def rules(findings: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    judges = _ON_TABLE | _ON_RUNS
    ours = {name: gain_rules.of_runs(findings.decompositions, j) for name, j in judges.items()}
    printed = {
        name: or_on_print(ours[name], lambda judge=judge: judge(printed_records()))  # type: ignore[misc]
        for name, judge in _ON_TABLE.items()
    }
    return {
        **ours,
        **printed,
        "CDEC-11": of_records(findings.resampled, bias_and_variance, needs="results/bias_variance"),
        "CDEC-12": always(capacity, "theory"),
        "CDEC-14": always(configurations_bounded, "theory"),
    }


class PrintedRecord(DecompositionRecord):
    """The printed gains on one data set, in the place of a record of runs."""

    @property
    def bases(self) -> dict[str, str]:
        """Both base classifiers of the table."""
        return BASES

    def gains(self, base: str, over: str = "", name: str = "") -> npt.NDArray[np.float64]:
        """Return the printed gain, shape (1,)."""
        return np.array([float(self.record[base]["mean"])])

    def plain_test(self, base: str) -> Comparison:
        """Return the printed gain with a p below the paper's level where it has an asterisk."""
        row = self.record[base]
        p = gain_rules.LEVEL / 2 if "asterisk" in row["note"] else 1.0
        return Comparison(float(row["mean"]), np.nan, np.nan, np.nan, p)


def printed_records() -> list[PrintedRecord]:
    """Return Table 1 as records."""
    rows: dict[str, dict[str, dict[str, str]]] = {}
    bases = {method: base for base, method in gain_rules.PRINTED_AS.items()}
    for row in facts(TABLE_1):
        if row["method"] in bases:
            dataset = names()["dataset", row["paper"], row["dataset"]].id
            rows.setdefault(dataset, {})[bases[row["method"]]] = row
    about = {"protocol": gain_rules.PRINT, "shares": {"train": 0.5, "test": 0.25}}
    return [
        PrintedRecord(TABLE_1, {**about, "dataset": name, **rows[name]})
        for name in printed_datasets(TABLE_1)
    ]
