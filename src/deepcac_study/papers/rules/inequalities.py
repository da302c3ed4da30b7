"""Checks of claims on the theorems of the CAC papers, with both sides evaluated."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from deepcac_study.catalogue.methods import LR, label
from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    PARTLY,
    UNDECIDED,
    Outcome,
    Truth,
    by_share,
    settled,
)
from deepcac_study.papers.rules.rule import ClaimRule
from deepcac_study.records.theorem_checks import AM_SOFTMAX, AM_SOFTMAX_PRINTED, CURVED

_SAME_LOSS = 0.001  # two mean losses that differ by no more are the same
_SEPARABLE = 0.01  # below this mean loss a fit has no optimum: it ends wherever it is stopped


def true(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether every inequality is true."""
    holds = rows["holds"].astype(bool)
    words = f" {rule.words}" if rule.words else ""
    return Outcome(by_share(holds.mean(), 1.0), f"true for {holds.sum()} of {len(rows)}{words}")


def cost(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check that the cost never rises, beyond rounding, when rows move one by one."""
    fine = rows["rise"] <= 1e-9 * rows["first"].abs()
    sets = fine.groupby(rows["path"]).all()
    figures = f"true for {sets.sum()} of {len(sets)} data sets, with {len(rows)} alphas in all"
    return Outcome(by_share(sets.mean(), 1.0), figures)


def lloyd(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check for a rise of the cost when all rows move at once; without one it is undecided."""
    rises = int((rows["lloyd_rise"] > 1e-9 * rows["first"].abs()).sum())
    figures = f"the cost rises for {rises} of {len(rows)} alphas"
    return Outcome(HOLDS if rises else UNDECIDED, figures)


def risk(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the test loss against the bound; one above ln 2 is no better than a constant model."""
    holds, bounds = rows["test"] <= rows["total"], rows["total"]
    verdict = by_share(holds.mean(), 1.0)
    telling = int((bounds < np.log(2)).sum())
    figures = (
        f"true for {holds.sum()} of {len(rows)} models; {telling} bounds are below ln 2, the least "
        f"is {bounds.min():.3g}"
    )
    return Outcome(UNDECIDED if verdict == HOLDS and not telling else verdict, figures)


def _beside_plain(rows: pd.DataFrame) -> Iterator[tuple[str, pd.Series, pd.Series]]:
    """Yield place, row of a model with clusters, and row of the model without on the same data."""
    for (dataset, k), part in rows.groupby(["dataset", "k"], sort=False):
        arms = {row["method"]: row for _, row in part.iterrows()}
        for arm in ("km_lr", "cac_lr"):
            yield f"{dataset}, k = {k:g}, {label(arm)}", arms[arm], arms[LR]


def trade(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether clustering lowers the training loss and raises the other two terms."""
    verdict, bounded, *_ = risk(rows, rule)
    right, texts = [], [bounded]
    for name, ours, plain in _beside_plain(rows):
        wider = ours["total"] - ours["training"] > plain["total"] - plain["training"]
        right.append(ours["training"] < plain["training"] and wider)
        change = ", ".join(f"{key} {ours[key] - plain[key]:+.3f}" for key in ("training", "test"))
        texts.append(f"{name}: {change}")
    traded = by_share(float(np.mean(right)), 1.0)
    if traded == FAILS or verdict in (UNDECIDED, traded):
        return Outcome(FAILS if traded == FAILS else verdict, "; ".join(texts))
    return Outcome(PARTLY, "; ".join(texts))


def lower_but_wider(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether clustering lowers the training loss and widens the gap to the test loss.

    The other part of the claim, that complexity stays low, is not measured.
    """
    answers: list[Truth] = []
    texts = []
    for name, ours, plain in _beside_plain(rows):
        lower = -(ours["training"] - plain["training"])
        wider = ours["test"] - plain["test"] + lower
        sure = min(abs(lower), abs(wider)) > _SAME_LOSS
        answers.append(bool(lower > 0 and wider > 0) if sure else None)
        texts.append(f"{name}: training {-lower:+.3f}, gap {wider:+.3f}")
    verdict = settled(answers, rule.share(len(answers)))
    figures = "; ".join([*texts, "complexity is not measured"])
    return Outcome(PARTLY if verdict == HOLDS else verdict, figures)


def growth(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether the exponents of the time in n, d and k are not clearly above 1."""
    texts = [
        f"{dataset}, k = {k:g}: "
        + ", ".join(f"{x}^{e:.2f}" for x, e in zip(part["axis"], part["exponent"], strict=True))
        for (dataset, k), part in rows.groupby(["dataset", "k"], sort=False)
    ]
    fine = (rows["exponent"] <= 1.0 + CURVED).mean()
    return Outcome(by_share(fine, 1.0), "; ".join(texts))


def growth_and_training(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the exponents as `growth` does; the time of the training, T, is not measured."""
    verdict, text, *_ = growth(rows, rule)
    note = "T is not measured, as our rounds train no classifier"
    return Outcome(PARTLY if verdict == HOLDS else verdict, f"{text}; {note}")


def same_signs(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check Lemma 1 on models that meet its premise; without one it is not tested."""
    fitted = rows[rows["same_sign"].notna()]
    met, positive = fitted[fitted["same_sign"] == 1.0], fitted["projection"] > 0
    shares = fitted["same_sign"]
    figures = (
        f"beta_i u_i > 0 for every i in {len(met)} of {len(fitted)} models (for "
        f"{shares.min():.0%} to {shares.max():.0%} of the features); beta.u > 0, which is enough, "
        f"in {positive.sum()}"
    )
    if met.empty:
        return Outcome(UNDECIDED, figures)
    return Outcome(HOLDS if (met["projection"] > 0).all() else FAILS, figures)


def tighter(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether clusters tighter than all rows together have a smaller gap per row."""
    fitted = rows[rows["loss"] > _SEPARABLE * rows["rows"]]
    fitted = fitted.assign(gap=(fitted["upper"] - fitted["lower"]) / fitted["rows"])
    pairs = fitted.merge(fitted[fitted["method"] == LR], on="path", suffixes=("", "_whole"))
    clusters = pairs[pairs["radius"] < pairs["radius_whole"]]
    if clusters.empty:
        return Outcome(UNDECIDED, "no cluster is tighter than the whole")
    right = clusters["gap"] < clusters["gap_whole"]
    figures = (
        f"{right.sum()} of {len(right)} clusters tighter than the whole have a smaller gap a row"
    )
    return Outcome(by_share(right.mean(), 1.0), figures)


def am_softmax(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the loss against printed and corrected bounds; only the printed ones are the claim."""
    mended, printed = (
        true(rows[rows["bound"] == bound], rule) for bound in (AM_SOFTMAX, AM_SOFTMAX_PRINTED)
    )
    figures = f"with the constants put right {mended.figures}; as printed {printed.figures}"
    if printed.verdict == HOLDS:
        return Outcome(HOLDS, figures)
    return Outcome(PARTLY if mended.verdict == HOLDS else FAILS, figures)
