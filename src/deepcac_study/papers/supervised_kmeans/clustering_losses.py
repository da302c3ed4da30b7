"""Losses on test clusterings, ours and printed, and their signed ranks (Table 4)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata, wilcoxon

from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.records.clusterings import ClusteringRun

# "As published" stands for the reading of WebKB whose losses without learning are nearest to the
# printed ones; Synth is our own sample in both.
NEAREST = {"webkb_n_unit": "webkb_n_markup", "webkb_l_unit": "webkb_l_markup"}
ROUNDING = 1e-6
SYNTH = "synth_pairs"
LEARNERS = ("iterative", "spectral", "pair")
_SIZES = ("n_clusterings", "k", "items", "n_node", "n_pair")


def loss_rows(runs: Sequence[ClusteringRun]) -> Iterator[dict[str, Any]]:
    """Yield the loss of each start on each test clustering, by protocol, and those of print.

    `low` and `high` are the ends of what starts, and processors of other kinds, reach.
    """
    by_place = {(run.dataset, run.method): run for run in runs}
    for protocol in ("sound", "as_published"):
        for claimed in (*NEAREST, SYNTH):
            name = claimed if protocol == "sound" else NEAREST.get(claimed, claimed)
            for method in (*LEARNERS, "none"):
                if run := by_place.get((name, method)):
                    place = {"protocol": protocol, "dataset": name, "claimed": claimed}
                    yield from (place | row for row in _losses(run))
    place = {"protocol": "print", "dataset": "print", "claimed": SYNTH, "path": "print"}
    for method, losses in printed_losses("SYNTH").items():
        for number, loss in enumerate(losses):
            ends = dict.fromkeys(("loss", "low", "high"), loss)
            yield {**place, "method": method, "clustering": number, "unfinished": "", **ends}


def _losses(run: ClusteringRun) -> Iterator[dict[str, Any]]:
    """Yield a run's losses; ``machine_losses.csv`` has those of processors of other kinds."""
    sizes = {name: run.record.get(name) for name in _SIZES}
    about = {"method": run.method, "path": run.path, "unfinished": run.unfinished, **sizes}
    for name, losses in zip(run.names, run.losses.T.tolist(), strict=True):
        place = (run.dataset, run.method, name)
        everywhere = losses + [
            float(row["loss"])
            for row in facts("machine_losses", "supervised_kmeans")
            if (row["dataset"], row["method"], row["clustering"]) == place
        ]
        ends = {"low": min(everywhere), "high": max(everywhere)}
        for seed, loss in enumerate(losses):
            yield {**about, "clustering": name, "seed": seed, "loss": loss, **ends}


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return loss, low and high of each test clustering, the loss as mean over the starts."""
    return rows.groupby("clustering", sort=False)[["loss", "low", "high"]].mean()


def printed_losses(printed: str) -> dict[str, Array]:
    """Return the legible losses of Table 3 by method, rows in order.

    `printed` is the start of a printed name: ``NEWS``, ``WEBKB-N`` or ``SYNTH``.
    """
    by_method: dict[str, list[float]] = {}
    for row in facts("skmeans_table3_loss"):
        if row["dataset"].startswith(printed) and row["mean"]:
            by_method.setdefault(row["method"].lower(), []).append(float(row["mean"]))
    return {method: np.array(losses) for method, losses in by_method.items()}


def unlike_printed_synth(rows: pd.DataFrame) -> str:
    """Say how our sample of Synth differs from the printed one; empty where it does not.

    It is other data where no learner loses half of the least that any printed one does.
    """
    if rows.empty:
        return ""
    ours = rows.loc[(rows["claimed"] == SYNTH) & rows["method"].isin(LEARNERS), "loss"]
    if ours.empty:
        return ""
    printed = [losses for name, losses in printed_losses("SYNTH").items() if name in LEARNERS]
    least, most = min(map(np.min, printed)), max(map(np.max, printed))
    if ours.max() > least / 2:
        return ""
    return (
        f"our sample of Synth is other data than the paper's: learners lose at most "
        f"{ours.max():.1f}, printed {least:.1f} to {most:.1f}"
    )


class SignedRanks(NamedTuple):
    """A comparison of two lists of losses."""

    # How often the first loss is lower, equal, higher.
    win: int
    tie: int
    lose: int
    # Size of the sum of signed ranks; only so do the printed 30 of 18 and 15 of 5 make sense.
    W: float
    n_sr: int  # pairs that are no tie
    p_1tail: float  # Wilcoxon's, for the side with the larger rank sum; 1 without a difference

    def __str__(self) -> str:
        return (
            f"{self.win}-{self.tie}-{self.lose}, W {self.W:g}, n {self.n_sr}, p {self.p_1tail:.4f}"
        )


def signed_ranks(first: npt.ArrayLike, second: npt.ArrayLike) -> SignedRanks:
    """Compare two lists of losses pair by pair; lower is better."""
    gain = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    gain = np.where(np.abs(gain) < ROUNDING, 0.0, gain)
    nonzero = np.round(gain[gain != 0], 6)
    total = float((np.sign(nonzero) * rankdata(np.abs(nonzero))).sum()) if len(nonzero) else 0.0
    p = 1.0
    if len(nonzero):
        p = float(wilcoxon(nonzero, alternative="greater" if total > 0 else "less").pvalue)
    wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
    return SignedRanks(wins, len(gain) - wins - losses, losses, abs(total), len(nonzero), p)
