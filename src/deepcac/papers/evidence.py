"""What a claim is decided on: the runs of one protocol."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.experiments.finished import Run, Runs
from deepcac.papers.names import restricted
from deepcac.papers.printed import published_protocols
from deepcac.scoring.statistics import Comparison, corrected_t_test

HOLDS, PARTLY, FAILS, NOT_RUN, NOT_DECIDABLE = (
    "holds",
    "partly",
    "fails",
    "not run",
    "not decidable from open data",
)
TIE = 0.0005


@dataclass(frozen=True)
class Decision:
    """What the runs say about a claim.

    Attributes
    ----------
    verdict : str
        Holds, partly, fails, not run, or not decidable from open data.
    figures : str
        The numbers behind the verdict.
    runs : tuple of str
        Paths of the runs that decide.
    """

    verdict: str
    figures: str
    runs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arm:
    """One score: a run and a metric under the name a paper uses.

    Attributes
    ----------
    dataset, method : str
        Ids.
    k : int
        Number of clusters.
    metric : str
        As printed: f1, auroc, auprc, silhouette.
    paper : str
        Whose definition of the metric counts.
    folds : bool
        Whether the number was printed from five-fold cross-validation.
    """

    dataset: str
    method: str
    k: int
    metric: str
    paper: str
    folds: bool = False


@dataclass(frozen=True)
class Evidence:
    """The runs of one protocol, asked by arm.

    Attributes
    ----------
    runs : Runs
        All runs.
    protocol : str
        ``sound`` or ``as_published``.
    """

    runs: Runs
    protocol: str

    def run(self, arm: Arm) -> Run | None:
        """Return the run of an arm, or None."""
        for protocol in self._protocols(arm):
            found = self.runs.find(protocol, arm.dataset, arm.method, arm.k)
            if found is not None and not found.synthetic:
                return found
        return None

    def _protocols(self, arm: Arm) -> tuple[str, ...]:
        if self.protocol != "as_published":
            return (self.protocol,)
        return published_protocols(arm.paper, arm.method, folds=arm.folds) or ("sound",)

    def score(self, arm: Arm) -> float | None:
        """Return the mean score of an arm, or None without one."""
        run = self.run(arm)
        score = run.score(run.reported(arm.metric, arm.paper)) if run else None
        return score[0] if score else None

    def standing(self, arm: Arm) -> float | None:
        """Return the mean score of an arm, -inf where its run gave none; None without a run.

        A run that timed out or diverged, or whose clusters became one, is below every score.
        """
        run = self.run(arm)
        if run is None:
            return None
        score = self.score(arm) if run.status == "ok" else None
        return -math.inf if score is None else score

    def spread(self, arm: Arm) -> float:
        """Return the standard deviation over the splits, 0 without one."""
        run = self.run(arm)
        score = run.score(run.reported(arm.metric, arm.paper)) if run else None
        return score[1] if score else 0.0

    def test(self, first: Arm, second: Arm) -> Comparison | None:
        """Return the corrected t-test of first less second, or None without equal splits."""
        one, other = self._splits(first), self._splits(second)
        run = self.run(first)
        if one is None or other is None or run is None or len(one) != len(other):
            return None
        sizes = [
            float(np.mean([split[key] for split in run.splits])) for key in ("n_train", "n_test")
        ]
        return corrected_t_test(one - other, n_train=sizes[0], n_test=sizes[1])

    def _splits(self, arm: Arm) -> npt.NDArray[np.float64] | None:
        run = self.run(arm)
        values = run.per_split(run.reported(arm.metric, arm.paper)) if run else np.empty(0)
        return values if len(values) and not np.isnan(values).any() else None

    def all_sound(self, paths: Sequence[str]) -> bool:
        """Say whether runs were named, and every one of them is sound."""
        sound = {run.path for run in self.runs.where(protocol="sound")}
        return bool(paths) and sound.issuperset(paths)

    def paths(self, arms: Sequence[Arm]) -> tuple[str, ...]:
        """Return the paths of the runs behind some arms, each once."""
        found = [run.path for run in map(self.run, arms) if run]
        return tuple(dict.fromkeys(found))


def open_arms(pairs: Sequence[tuple[Arm, Arm]], evidence: Evidence) -> list[tuple[Arm, Arm]]:
    """Leave out comparisons on restricted data that were not run."""
    return [
        pair
        for pair in pairs
        if pair[0].dataset not in restricted() or all(evidence.run(arm) for arm in pair)
    ]


def without(pairs: Sequence[tuple[Arm, Arm]], kept: Sequence[tuple[Arm, Arm]]) -> str:
    """Say what was left out, in one clause."""
    left = sorted({restricted()[pair[0].dataset] for pair in pairs if pair not in kept})
    return f"; without the data that need {' and '.join(left)}" if left else ""
