"""Does clustering help on this table? The verdicts, and what they say in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from deepcac.judging.questions import ANY, HELP, NEGATIVE
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, UNDECIDED, WORSE
from deepcac.scoring.small_cells import FEW
from deepcac.table.budgeted_trials import Trials

FEWEST_EVENTS = 20  # rows of the rarest class; with fewer, five or less are tested at a time
MARGIN, STRICT = 0.01, 0.005  # of AUROC, as in the study of the papers' data sets

_BOOSTERS = {"lgbm": "LightGBM", "hgb": "boosting (scikit-learn)"}
_ARMS = {
    "km": "k-means",
    "cac": "CAC",
    "dist": "distances to centres",
    "cells": "random cells",
    "hash": "hash of the row",
}


@dataclass(frozen=True)
class Answer:
    """What the comparison says.

    Attributes
    ----------
    sentence : str
        The answer in one sentence.
    details : list of str
        What it rests on, a sentence each.
    verdict : str
        ``gain``, ``no gain``, ``undecided`` or ``too few``.
    table : DataFrame
        Of `deepcac.judging.verdicts.verdicts`.
    margin : float
    """

    sentence: str
    details: list[str]
    verdict: str
    table: pd.DataFrame
    margin: float


def contender_name(contender: str) -> str:
    """Return the name of a contender in words."""
    arm, _, learner = contender.rpartition("_")
    model = _BOOSTERS.get(learner, "logistic regression")
    return f"{model} + {_ARMS[arm]}" if arm else model


def arm_name(contender: str) -> str:
    """Return the name of a contender's partition in words."""
    return _ARMS[contender.partition("_")[0]]


def signed(value: float, digits: int = 3) -> str:
    """Return a difference with its sign; none before a zero."""
    rounded = round(value, digits)
    return f"{rounded:+.{digits}f}" if rounded else f"{0:.{digits}f}"


def answer(trials: Trials, name: str, rarest: int, margin: float = MARGIN) -> Answer:
    """Compare the contenders and put the outcome into words.

    Parameters
    ----------
    trials : Trials
    name : str
        Of the table.
    rarest : int
        Its rows of the rarest class.
    margin : float
        Differences in AUROC up to this are negligible.
    """
    table = verdicts(resample_scores({name: trials.records}), margin, min(STRICT, margin))
    rows = table[(table["question"] == HELP.id) & (table["metric"] == "auroc")]
    counts = {one: int((rows["verdict"] == one).sum()) for one in _ORDER}
    verdict = TOO_FEW if rarest < FEWEST_EVENTS else _overall(counts)
    sentence = _SENTENCES[verdict].format(
        **{one.split()[0]: count or "none" for one, count in counts.items()},
        n=len(rows),
        rarest=rarest if rarest >= FEW else f"fewer than {FEW}",
        margin=f"{margin:g}",
        best=_best(rows),
    )
    return Answer(sentence, _details(table, rows, counts), verdict, table, margin)


GAIN, NO_GAIN, OPEN, TOO_FEW = "gain", "no gain", "undecided", "too few"
_ORDER = (BETTER, WORSE, EQUIVALENT, UNDECIDED, NEVER)
_SENTENCES = {
    GAIN: "Yes, for some models: clusters are better in {better} of {n} comparisons of a model "
    "with clusters and the same model without; {best}.",
    NO_GAIN: "No gain: of {n} comparisons of a model with clusters and the same model without, "
    "clusters are better in none, equivalent (within {margin} AUROC) in {equivalent}, worse in "
    "{worse}; they were offered and never chosen in {never}.",
    OPEN: "No gain was found, but not everything is settled: of {n} comparisons of a model with "
    "clusters and the same model without, clusters are better in none, equivalent (within {margin} "
    "AUROC) in {equivalent}, worse in {worse}, undecided in {undecided}; they were offered and "
    "never chosen in {never}.",
    TOO_FEW: "Too few events to say whether clusters help: {rarest} rows of the rarest class.",
}  # fmt: skip


def _overall(counts: dict[str, int]) -> str:
    if counts[BETTER]:
        return GAIN
    return OPEN if counts[UNDECIDED] else NO_GAIN


def _best(rows: pd.DataFrame) -> str:
    """Describe the largest gain."""
    better = [one for one in rows.to_dict("records") if one["verdict"] == BETTER]
    if not better:
        return ""
    one = max(better, key=lambda row: row["mean"])
    return (
        f"the largest gain is {signed(one['mean'])} AUROC (95 % interval {signed(one['low'])} to "
        f"{signed(one['high'])}), {contender_name(one['contender'])}"
    )


def _details(table: pd.DataFrame, rows: pd.DataFrame, counts: dict[str, int]) -> list[str]:
    detectable, gaps = rows["detectable"], rows["mean"]
    said = [f"Differences in AUROC go from {signed(gaps.min())} to {signed(gaps.max())}."]
    if detectable.notna().any():
        said[0] += (
            f" With 80 % power these {int(rows['resamples'].iloc[0])} resamples find a difference "
            f"of {detectable.min():.3f} to {detectable.max():.3f}, depending on the comparison."
        )
    alone = dict(zip(rows["reference"], rows["reference_score"], strict=True))
    scores = ", ".join(f"{contender_name(name)} {score:.3f}" for name, score in alone.items())
    best = max(rows.to_dict("records"), key=lambda row: row["score"])
    said.append(
        f"AUROC without clusters: {scores}. The best with clusters: "
        f"{contender_name(best['contender'])} {best['score']:.3f}."
    )
    control = table[(table["question"] == NEGATIVE.id) & (table["metric"] == "auroc")]
    found: Sequence[str] = control["verdict"].tolist()
    if BETTER in found:
        said.append(
            "Warning: a hash of the row number, which knows nothing, seems to help; do not trust "
            "the gains on this page."
        )
    if counts[BETTER] and (meaningless := _beaten(table, rows)):
        said.append(meaningless)
    return said


def _beaten(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Say whether the clusters that help beat a partition that means nothing."""
    helping = set(rows.loc[rows["verdict"] == BETTER, "contender"])
    own = table[
        (table["question"] == ANY.id)
        & (table["metric"] == "auroc")
        & table["contender"].isin(helping)
    ]
    if own.empty:
        return ""
    won = int((own["verdict"] == BETTER).sum())
    return (
        f"Against partitions that mean nothing (random cells, a hash) the clusters that help are "
        f"better in {won} of {len(own)} comparisons."
    )
