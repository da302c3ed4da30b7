"""Losses on test clusterings, ours and printed, and their signed ranks (Table 4)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata, wilcoxon

from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores
from deepcac_study.records.clusterings import ClusteringRun

# "As published" is the reading of WebKB whose losses without learning are closest to the printed
# ones; Synth is our sample in both protocols.
NEAREST = {"webkb_n_unit": "webkb_n_markup", "webkb_l_unit": "webkb_l_markup"}
ROUNDING = 1e-6
SYNTH = "synth_pairs"
LEARNERS = ("iterative", "spectral", "pair")
_SIZES = ("n_clusterings", "k", "items", "n_node", "n_pair")


def loss_rows(runs: Sequence[ClusteringRun]) -> Iterator[dict[str, Any]]:
    """Yield rows with the loss of each start on each test clustering, by protocol, and in print.

    `low` and `high` are the range over starts, and over other kinds of processors.
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
    """Yield a run's losses, with the range over processors from ``machine_losses.csv``."""
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


def mean_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return mean loss over the starts, low and high of each test clustering."""
    return rows.groupby("clustering", sort=False)[["loss", "low", "high"]].mean()


def printed_losses(printed: str) -> dict[str, Array]:
    """Return the legible losses of Table 3 by method, rows in order.

    `printed` is the prefix of a printed name: ``NEWS``, ``WEBKB-N`` or ``SYNTH``.
    """
    by_method: dict[str, list[float]] = {}
    for row in facts("skmeans_table3_loss"):
        if row["dataset"].startswith(printed) and row["mean"]:
            by_method.setdefault(row["method"].lower(), []).append(float(row["mean"]))
    return {method: np.array(losses) for method, losses in by_method.items()}


def unlike_printed_synth(rows: pd.DataFrame) -> str:
    """Return how our sample of Synth differs from the printed one; empty if it does not.

    It differs if the losses of all learners are below half of the smallest printed one.
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
    """Wilcoxon's signed ranks of two lists of losses."""

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


_DRAW = "our own sample of Synth: mean over its clusterings"
_OTHER_DATA = "our sample of Synth is other data"


class LossTables(Answers):
    """Our numbers for the cells of Tables 1, 3 and 4, from the losses of finished experiments."""

    sources = ("skmeans_table1_datasets", "skmeans_table3_loss", "skmeans_table4_wins")

    def __init__(self, scores: Scores) -> None:
        rows = scores.source("losses")
        self._rows = dict(iter(rows.groupby(["protocol", "claimed"]))) if len(rows) else {}
        synth = self._rows.get(("sound", SYNTH), rows[:0])
        self._derived = _OTHER_DATA if unlike_printed_synth(synth) else ""

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number for a cell, None if its experiment was not run."""
        rows = self._rows.get((protocol, cell.dataset_id))
        if rows is None:
            return None
        if cell.source == "skmeans_table4_wins":
            return _wins(cell, rows)
        if cell.source == "skmeans_table3_loss":
            rows = rows[rows["method"] == cell.method_id.removeprefix("skm_")]
            return _loss(cell, rows) if len(rows) else None
        key = {"avg_m": "items", "N_node": "n_node", "N_pair": "n_pair"}.get(cell.item, cell.item)
        value, path = rows[[key, "path"]].iloc[0]
        return Ours(float(value), None, "ok", path, agrees=round(value) == cell.value)

    def target(self, cell: PrintedCell) -> str:
        """Return the path of the experiment that would decide a cell."""
        name, method = cell.dataset_id, cell.method_id.removeprefix("skm_") or "*"
        name = name if cell.protocol == "sound" else NEAREST.get(name, name)
        return f"results/skmeans/{name}/{method}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Return a note on our number if the rows cannot be matched."""
        return _DRAW if _of_synth(cell) else ""

    def not_counted(self, cell: PrintedCell) -> str:
        """Return why the losses on Synth do not count, if our sample differs; else empty."""
        return self._derived if _of_synth(cell) else ""


def _of_synth(cell: PrintedCell) -> bool:
    return cell.source == "skmeans_table3_loss" and cell.dataset_id == SYNTH


def _wins(cell: PrintedCell, rows: pd.DataFrame) -> Ours | None:
    """Return the printed statistic of our signed-rank test; None unless both methods ran."""
    iterative, other = (rows[rows["method"] == name] for name in ("iterative", "spectral"))
    if iterative.empty or other.empty:
        return None
    ranks = signed_ranks(mean_losses(iterative)["loss"], mean_losses(other)["loss"])
    value = float(getattr(ranks, cell.item))
    agrees = value > 0.05 if cell.text.startswith(">") else None
    return Ours(value, None, "ok", iterative["path"].iloc[0], agrees=agrees)


def _loss(cell: PrintedCell, rows: pd.DataFrame) -> Ours:
    """Return the loss of one clustering, or the mean of all if its name is not known."""
    name = cell.note.partition(";")[0].lower()
    named = rows[rows["clustering"] == name] if name.isalpha() else rows[:0]
    losses = (named if len(named) else rows)["loss"].to_numpy()
    spread = float(losses.std(ddof=1)) if losses.size > 1 else None
    return Ours(float(losses.mean()), spread, "ok", rows["path"].iloc[0])
