"""What answers the cells of Tables 1, 3 and 4 of supervised k-means."""

import pandas as pd

from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores
from deepcac_study.papers.supervised_kmeans.clustering_losses import (
    NEAREST,
    SYNTH,
    means,
    signed_ranks,
    unlike_printed_synth,
)

_DRAW = "our own sample of Synth: mean over its clusterings"
_OTHER_DATA = "our sample of Synth is other data"


class LossTables(Answers):
    """Answers the cells of Tables 1, 3 and 4 from the losses of finished experiments."""

    sources = ("skmeans_table1_datasets", "skmeans_table3_loss", "skmeans_table4_wins")

    def __init__(self, scores: Scores) -> None:
        rows = scores.source("losses")
        self._rows = dict(iter(rows.groupby(["protocol", "claimed"]))) if len(rows) else {}
        synth = self._rows.get(("sound", SYNTH), rows[:0])
        self._derived = _OTHER_DATA if unlike_printed_synth(synth) else ""

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number for a cell, None where its experiment was not made."""
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
        """Return the experiment that would decide a cell."""
        name, method = cell.dataset_id, cell.method_id.removeprefix("skm_") or "*"
        name = name if cell.protocol == "sound" else NEAREST.get(name, name)
        return f"results/skmeans/{name}/{method}.json"

    def remark(self, cell: PrintedCell) -> str:
        """Say what our number stands for where the rows cannot be matched."""
        return _DRAW if _of_synth(cell) else ""

    def apart(self, cell: PrintedCell) -> str:
        """Return why the losses on Synth are no evidence, where our sample is other data."""
        return self._derived if _of_synth(cell) else ""


def _of_synth(cell: PrintedCell) -> bool:
    return cell.source == "skmeans_table3_loss" and cell.dataset_id == SYNTH


def _wins(cell: PrintedCell, rows: pd.DataFrame) -> Ours | None:
    iterative, other = (rows[rows["method"] == name] for name in ("iterative", "spectral"))
    if iterative.empty or other.empty:
        return None
    ranks = signed_ranks(means(iterative)["loss"], means(other)["loss"])
    value = float(getattr(ranks, cell.item))
    agrees = value > 0.05 if cell.text.startswith(">") else None
    return Ours(value, None, "ok", iterative["path"].iloc[0], agrees=agrees)


def _loss(cell: PrintedCell, rows: pd.DataFrame) -> Ours:
    """Return the loss of one clustering, or of all where it has no name that we know."""
    name = cell.note.partition(";")[0].lower()
    named = rows[rows["clustering"] == name] if name.isalpha() else rows[:0]
    losses = (named if len(named) else rows)["loss"].to_numpy()
    spread = float(losses.std(ddof=1)) if losses.size > 1 else None
    return Ours(float(losses.mean()), spread, "ok", rows["path"].iloc[0])
