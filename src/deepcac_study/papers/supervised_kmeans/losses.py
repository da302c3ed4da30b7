"""Losses on test clusterings, ours and printed, and their signed ranks (Table 4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, wilcoxon

from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.agreement import Ours
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.records.clusterings import ClusteringRun, Clusterings

# "As published" stands for the reading of WebKB whose losses without learning are nearest to the
# printed ones.
NEAREST = {"webkb_n_unit": "webkb_n_markup", "webkb_l_unit": "webkb_l_markup"}
ROUNDING = 1e-6
SYNTH = "synth_pairs"
_DRAW = "our own sample of Synth: mean over its clusterings"
_APART = "our sample of Synth is other data"
LEARNERS = ("iterative", "spectral", "pair")
METHODS = (*LEARNERS, "none")


def dataset(name: str, protocol: str) -> str:
    """Return the data set that stands for a printed one; Synth is our own sample in both."""
    return name if protocol == "sound" else NEAREST.get(name, name)


def mean_losses(run: ClusteringRun) -> Array:
    """Return the mean loss over the seeds of each test clustering."""
    return np.asarray(run.losses.mean(axis=0))


def loss_rows(runs: Sequence[ClusteringRun]) -> Iterator[dict[str, Any]]:
    """Yield the losses of each test clustering, ours by protocol and those printed for Synth.

    `mean` is over our own starts; `low` and `high` are the ends of what starts, and processors of
    other kinds, reach.
    """
    found = Clusterings(tuple(runs))
    for protocol in ("sound", "as_published"):
        for claimed in (*NEAREST, SYNTH):
            name = dataset(claimed, protocol)
            for method in METHODS:
                if run := found.find(name, method):
                    place = {"protocol": protocol, "dataset": name, "claimed": claimed}
                    yield from (place | row for row in _clusterings(run))
    for method, losses in printed_losses("SYNTH").items():
        for loss in losses:
            ends = dict.fromkeys(("mean", "low", "high", "worst"), loss)
            place = {"protocol": "print", "dataset": "print", "claimed": SYNTH, "path": "print"}
            yield {**place, "method": method, "unfinished": "", **ends}


def _clusterings(run: ClusteringRun) -> Iterator[dict[str, Any]]:
    """Yield a run's losses; ``machine_losses.csv`` has those of processors of other kinds."""
    everywhere = {name: list(run.losses[:, j]) for j, name in enumerate(run.names)}
    for row in facts("machine_losses", "supervised_kmeans"):
        same = (row["dataset"], row["method"]) == (run.dataset, run.method)
        if same and row["clustering"] in everywhere:
            everywhere[row["clustering"]].append(float(row["loss"]))
    about = {"method": run.method, "path": run.path, "unfinished": run.unfinished}
    for mean, worst, losses in zip(
        mean_losses(run), run.losses.max(axis=0), everywhere.values(), strict=True
    ):
        yield {**about, "mean": mean, "low": min(losses), "high": max(losses), "worst": worst}


def printed_losses(printed: str) -> dict[str, Array]:
    """Return the legible losses of Table 3 by method, rows in order.

    `printed` is the start of a printed name: ``NEWS``, ``WEBKB-N`` or ``SYNTH``.
    """
    by_method: dict[str, list[float]] = {}
    for row in facts("skmeans_table3_loss"):
        if row["dataset"].startswith(printed) and row["mean"]:
            by_method.setdefault(row["method"].lower(), []).append(float(row["mean"]))
    return {method: np.array(losses) for method, losses in by_method.items()}


def unlike_printed_synth(worst: Sequence[float]) -> str:
    """Say how our sample of Synth differs from the printed one; empty where it does not.

    It is other data where no learner loses half of the least that any printed one does. `worst` are
    the largest losses of our learners.
    """
    printed = [losses for name, losses in printed_losses("SYNTH").items() if name in LEARNERS]
    if not len(worst) or not printed:
        return ""
    least, most = min(map(np.min, printed)), max(map(np.max, printed))
    if max(worst) > least / 2:
        return ""
    return (
        f"our sample of Synth is other data than the paper's: learners lose at most "
        f"{max(worst):.1f}, printed {least:.1f} to {most:.1f}"
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


@dataclass(frozen=True)
class LossTables:
    """Answers the cells of Tables 1, 3 and 4 from finished experiments."""

    clusterings: Clusterings
    sources = ("skmeans_table1_datasets", "skmeans_table3_loss", "skmeans_table4_wins")

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number for a cell, None where its experiment was not made."""
        name = dataset(cell.dataset_id, protocol)
        if cell.source == "skmeans_table1_datasets":
            return self._size(cell, name)
        if cell.source == "skmeans_table4_wins":
            return self._wins(cell, name)
        run = self.clusterings.find(name, cell.method_id.removeprefix("skm_"))
        return _loss(cell, run) if run else None

    def target(self, cell: PrintedCell) -> str:
        """Return the experiment that would decide a cell."""
        method = cell.method_id.removeprefix("skm_") or "*"
        return f"results/skmeans/{dataset(cell.dataset_id, cell.protocol)}/{method}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Say what our number stands for where the rows cannot be matched."""
        return _DRAW if _of_synth(cell) else ""

    def apart(self, cell: PrintedCell) -> str:
        """Return why the losses on Synth are no evidence, where our sample is other data."""
        runs = (self.clusterings.find(SYNTH, name) for name in LEARNERS)
        worst = [run.losses.max() for run in runs if run]
        return _APART if _of_synth(cell) and unlike_printed_synth(worst) else ""

    def _size(self, cell: PrintedCell, name: str) -> Ours | None:
        run = next((run for run in self.clusterings.runs if run.dataset == name), None)
        if run is None:
            return None
        keys = {"avg_m": "items", "N_node": "n_node", "N_pair": "n_pair"}
        value = float(run.record[keys.get(cell.item, cell.item)])
        return Ours(value, None, "ok", run.path, agrees=round(value) == cell.value)

    def _wins(self, cell: PrintedCell, name: str) -> Ours | None:
        iterative, other = (
            self.clusterings.find(name, method) for method in ("iterative", "spectral")
        )
        if iterative is None or other is None:
            return None
        value = float(getattr(signed_ranks(mean_losses(iterative), mean_losses(other)), cell.item))
        agrees = value > 0.05 if cell.text.startswith(">") else None
        return Ours(value, None, "ok", iterative.path, agrees=agrees)


def _of_synth(cell: PrintedCell) -> bool:
    return cell.source == "skmeans_table3_loss" and cell.dataset_id == SYNTH


def _loss(cell: PrintedCell, run: ClusteringRun) -> Ours:
    """Return the loss of one clustering, or of all where it has no name that we know."""
    name = cell.note.partition(";")[0].lower()
    losses = run.losses
    if name.isalpha() and name in run.names:
        losses = losses[:, [run.names.index(name)]]
    spread = float(losses.std(ddof=1)) if losses.size > 1 else None
    return Ours(float(losses.mean()), spread, "ok", run.path)
