"""Evidence for claims: the rows of one protocol, and the runs among them by arm."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.scoring.equivalence import Difference, difference
from deepcac.scoring.margins import MARGIN
from deepcac_study.catalogue.protocol import named_protocols, protocol_folder
from deepcac_study.papers.claim_verdicts import LOST, NOT_DECIDABLE, NOT_RUN, Decision
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.names import lost_datasets, restricted
from deepcac_study.papers.printed import deciding_protocol
from deepcac_study.papers.score_table import Scores, Splits

TIE = 0.0005  # half of the last printed digit


@dataclass(frozen=True)
class Arm:
    """One score: a run and a metric, under the names of a paper."""

    dataset: str
    method: str
    k: int  # number of clusters
    metric: str  # as printed: f1, auroc, auprc, silhouette
    paper: str  # whose definition of the metric counts
    folds: bool = False  # whether the number was printed from five-fold cross-validation


@dataclass(frozen=True)
class Evidence:
    """The rows of one protocol, and the runs among them by arm."""

    scores: Scores
    protocol: str  # ``sound`` or ``as_published``
    ledger: Sequence[Entry] = ()

    def rows(self, source: str, where: str = "") -> pd.DataFrame:
        """Return the rows of a source and the protocol that meet a condition."""
        if source == "ledger":
            columns = [*Entry.__dataclass_fields__, "path"]
            cells = [{**vars(entry), "path": entry.run} for entry in self.ledger]
            rows = pd.DataFrame(cells, columns=columns)
        else:
            rows = self.scores.source(source, self.protocol)
        return rows.query(where, engine="python") if where and len(rows) else rows

    def printed(self, source: str) -> pd.DataFrame:
        """Return the printed values in the form of a source's rows."""
        return self.scores.source(source, "print")

    def run(self, arm: Arm) -> Splits | None:
        """Return the run of an arm under its deciding protocol, or None; others are not used."""
        return self.scores.runs.get((self._protocol(arm), arm.dataset, arm.method, arm.k))

    def _protocol(self, arm: Arm) -> str:
        if self.protocol != "as_published":
            return self.protocol
        return deciding_protocol(arm.paper, arm.method, folds=arm.folds)

    def standing(self, arm: Arm) -> float | None:
        """Return the mean score of an arm, -inf if its run has no score; None without a run.

        So a run that timed out or diverged, or whose clusters became one, ranks last.
        """
        run = self.run(arm)
        if run is None:
            return None
        scores = run.reported(arm.metric, arm.paper)
        return float(scores.mean()) if run.status == "ok" and len(scores) else -math.inf

    def contrast(self, first: Arm, second: Arm) -> Difference | None:
        """Return the difference first - second over common splits; None if one has no run.

        A single split has no spread: its difference is taken as exact, rounded to the printed
        precision. So is one against a run without a score. The difference is open if the runs have
        no split in common, or their splits are of different kinds (seeds, folds) or sizes.
        """
        runs = self.run(first), self.run(second)
        means = self.standing(first), self.standing(second)
        if runs[0] is None or runs[1] is None or means[0] is None or means[1] is None:
            return None
        if -math.inf in means:
            return exactly(means[0] - means[1] if means[0] != means[1] else 0.0)
        if self._splits(first) != self._splits(second):
            return open_difference(means[0] - means[1])
        scores, other = _by_split(runs[0], first), _by_split(runs[1], second)
        gaps = [score - other[split] for split, score in scores.items() if split in other]
        if len(gaps) < 2:
            return exactly(gaps[0]) if gaps else open_difference(means[0] - means[1])
        return difference(gaps, test_share=test_share(runs[0]), margin=MARGIN)

    def _splits(self, arm: Arm) -> str:
        """Return the kind of splits of an arm's run; both protocols of five folds are the same."""
        protocol = self._protocol(arm)
        return "folds" if "CV5" in named_protocols().get(protocol, ()) else protocol

    def per_split(self, arm: Arm) -> npt.NDArray[np.float64]:
        """Return the scores of an arm on its splits; 0 if its run has none."""
        run = self.run(arm)
        scores = run.reported(arm.metric, arm.paper) if run else np.empty(0)
        return scores if len(scores) else np.zeros(1)

    def paths(self, arms: Sequence[Arm]) -> tuple[str, ...]:
        """Return the distinct paths of the runs of some arms."""
        paths = [run.path for run in map(self.run, arms) if run]
        return tuple(dict.fromkeys(paths))

    def all_sound(self, paths: Sequence[str]) -> bool:
        """Return whether there are paths, and all of them are of sound runs."""
        rows = self.scores.source("runs")
        return bool(paths) and set(rows.loc[rows["protocol"] == "sound", "path"]).issuperset(paths)

    def left_out(self, arm: Arm) -> str:
        """Return why an arm's data cannot decide; empty if they can.

        Restricted data may not be available, and the outcomes of some published data are lost.
        """
        if self.protocol == "as_published" and arm.dataset in lost_datasets(arm.paper):
            return f"{arm.dataset}, where {lost_datasets(arm.paper)[arm.dataset]}"
        if arm.dataset in restricted() and self.run(arm) is None:
            return f"{arm.dataset}, which needs {restricted()[arm.dataset]}"
        return ""

    def target(self, arm: Arm) -> str:
        """Return the path of the record that an arm needs."""
        folder = protocol_folder(self._protocol(arm))
        return f"results/{folder}{arm.dataset}/{arm.method}_k{arm.k}.json"


def _by_split(run: Splits, arm: Arm) -> dict[tuple[float, ...], float]:
    """Return the score of each split by seed and numbers of training and test rows."""
    splits = zip(run["seed"], run["n_learn"], run["n_test"], strict=True)
    return dict(zip(splits, run.reported(arm.metric, arm.paper), strict=True))


def test_share(run: Splits) -> float:
    """Return the mean share of test rows in a run's splits."""
    return float((run["n_test"] / (run["n_test"] + run["n_train"])).mean())


_OPEN = Difference(
    mean=0.0,
    low=-math.inf,
    high=math.inf,
    p=1.0,
    p_equivalent=1.0,
    detectable=math.inf,
    worse=0.5,
    same=0.0,
    better=0.5,
)


def exactly(gap: float) -> Difference:
    """Return a difference without spread; one below the printed precision counts as 0."""
    gap = 0.0 if abs(gap) <= TIE else gap
    sides = {"worse": float(gap < -MARGIN), "better": float(gap > MARGIN)}
    outside = max(sides.values())
    ends = {"mean": gap, "low": gap, "high": gap, "detectable": 0.0}
    return replace(_OPEN, **ends, **sides, p_equivalent=outside, same=1.0 - outside)


def open_difference(gap: float) -> Difference:
    """Return a difference of means without common splits, on which every question stays open."""
    return replace(_OPEN, mean=gap)


def without(arms: Iterable[Arm], evidence: Evidence) -> str:
    """Return a clause on the data that were left out; empty if none were."""
    reasons = dict.fromkeys(filter(None, map(evidence.left_out, arms)))
    return f"; without {' and '.join(reasons)}" if reasons else ""


def nothing_left(arms: Sequence[Arm], evidence: Evidence) -> Decision:
    """Return the decision on a claim all of whose data are restricted or lost."""
    lost = any(arm.dataset in lost_datasets(arm.paper) for arm in arms)
    reason = without(arms, evidence).removeprefix("; without ") or "no open data set"
    return Decision(LOST if lost else NOT_DECIDABLE, f"the claim is about {reason}")


def lacking(arms: Iterable[Arm], evidence: Evidence) -> Decision | None:
    """Return the decision "not run" if arms have no run yet, else None."""
    missing = [arm for arm in dict.fromkeys(arms) if evidence.run(arm) is None]
    if not missing:
        return None
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return Decision(NOT_RUN, f"needs {evidence.target(missing[0])}{more}")
