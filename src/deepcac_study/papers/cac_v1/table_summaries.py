"""The summary rows and columns of CAC v1's tables (counts and averages), from our runs."""

from dataclasses import dataclass

import numpy as np

from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.methods import is_network
from deepcac_study.papers.agreement import Answers, Ours
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.names import clusters, names
from deepcac_study.papers.printed import PrintedCell
from deepcac_study.papers.score_table import Scores

ARMS = ("base", "km", "cac")
_NEURAL = {"FNN": ("FNN", "DMNN", "DeepCAC")}
_ROUNDING = 0.15


def _scores_of(cell: PrintedCell) -> list[dict[str, str]]:
    """Return the rows of printed scores that a summary cell covers."""
    return facts(cell.source.removesuffix("_summary"))


def arms(classifier: str) -> tuple[str, str, str]:
    """Return the printed names of the plain, the k-means and the CAC form of a classifier."""
    return _NEURAL.get(classifier, (classifier, f"KM+{classifier}", f"CAC+{classifier}"))


def summarise(item: str, scores: list[tuple[float, float, float]]) -> float:
    """Compute one printed summary of triples of scores, one per data set or classifier.

    It is ``best_count_{base,km,cac}`` (ties go to the first of the three) or
    ``avg_up_f1_pct_vs_{base,km}`` (ratio of the column means, minus one, in per cent).
    """
    table = np.array(scores)
    arm = ARMS.index(item.rsplit("_", 1)[1])
    if item.startswith("best_count"):
        return float((table.argmax(axis=1) == arm).sum())
    means = table.mean(axis=0)
    return float(100 * (means[2] / means[arm] - 1))


@dataclass
class Summaries(Answers):
    """Summaries of our runs in the shape of CAC v1's tables."""

    sources = tuple(table.source for table in PAPERS["cac_v1"].tables if table.kind == "summary")

    scores: Scores

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number for a summary cell, or None unless every run it needs is there."""
        triples = []
        for dataset, classifier in _places(cell):
            scores = [self._score(protocol, dataset, name) for name in arms(classifier)]
            if None in scores:
                return None
            triples.append(tuple(scores))
        mean = summarise(cell.item, triples)  # type: ignore[arg-type]
        return Ours(mean, None, "ok", f"{3 * len(triples)} runs")

    def target(self, cell: PrintedCell) -> str:
        """Return a text on the runs that a summary needs."""
        return f"the {cell.protocol.replace('_', ' ')} runs behind Table {cell.table}"

    def remark(self, cell: PrintedCell) -> str:
        """Return the summary of the printed cells, where it differs from the printed summary."""
        if cell.value is None:
            return ""
        means = {(row["dataset"], row["method"]): float(row["mean"]) for row in _scores_of(cell)}
        triples = [
            tuple(means[dataset, name] for name in arms(classifier))
            for dataset, classifier in _places(cell)
        ]
        recomputed = summarise(cell.item, triples)  # type: ignore[arg-type]
        if abs(recomputed - cell.value) <= _ROUNDING:
            return ""
        return f"the printed cells give {recomputed:.4g}"

    def _score(self, protocol: str, dataset: str, method: str) -> float | None:
        """Return the mean F1 of the run behind a printed cell, None if there is none."""
        data = names()["dataset", "cac_v1", dataset]
        way = names()["method", "cac_v1", method]
        k = clusters("", way, data) or 1
        # Only the sound runs decide the neural rows (`deciding_protocol`).
        protocol = "sound" if is_network(way.id) else protocol
        run = self.scores.runs.get((protocol, data.id, way.id, k))
        scores = run.values("f1") if run else ()
        return float(np.mean(scores)) if len(scores) else None


def _places(cell: PrintedCell) -> list[tuple[str, str]]:
    """Return the (data set, classifier) pairs that a summary cell covers."""
    printed = _scores_of(cell)
    datasets, methods = (dict.fromkeys(row[x] for row in printed) for x in ("dataset", "method"))
    plain = [name for name in methods if "+" not in name and name not in ("DMNN", "DeepCAC")]
    classifiers = [cell.method] if cell.method else plain
    return [
        (name, x) for name in ([cell.dataset] if cell.dataset else datasets) for x in classifiers
    ]
