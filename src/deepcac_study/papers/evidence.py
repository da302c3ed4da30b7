"""What a claim is decided on: the runs of one protocol."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.scoring.equivalence import Difference, difference
from deepcac.scoring.margins import MARGIN
from deepcac_study.catalogue.protocol import named_protocols, protocol_folder
from deepcac_study.papers.names import lost_datasets, restricted
from deepcac_study.papers.printed import deciding_protocol
from deepcac_study.records.runs import Run, Runs

VERDICTS = {
    "holds": "holds",
    "partly": "partly",
    "fails": "fails",
    "cannot_hold": "cannot hold",
    "undecided": "undecided",
    "toy": "toy",
    "not_decidable": "not decidable",
    "not_rebuildable": "data not rebuildable",
    "not_run": "not run",
}
HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED, TOY, NOT_DECIDABLE, LOST, NOT_RUN = VERDICTS.values()
TIE = 0.0005  # half of the last printed digit


@dataclass(frozen=True)
class Decision:
    """What the runs say about a claim."""

    verdict: str  # one of `VERDICTS`
    reason: str  # one sentence with the numbers that decided, or with what is missing
    runs: tuple[str, ...] = ()  # paths of the runs that decide


@dataclass(frozen=True)
class Arm:
    """One score: a run and a metric under the name a paper uses."""

    dataset: str
    method: str
    k: int  # number of clusters
    metric: str  # as printed: f1, auroc, auprc, silhouette
    paper: str  # whose definition of the metric counts
    folds: bool = False  # whether the number was printed from five-fold cross-validation


@dataclass(frozen=True)
class Evidence:
    """The runs of one protocol, asked by arm."""

    runs: Runs
    protocol: str  # ``sound`` or ``as_published``

    def run(self, arm: Arm) -> Run | None:
        """Return the run of an arm by its own protocol, or None: no other stands in for it."""
        return self.runs.find(self._protocol(arm), arm.dataset, arm.method, arm.k)

    def _protocol(self, arm: Arm) -> str:
        if self.protocol != "as_published":
            return self.protocol
        return deciding_protocol(arm.paper, arm.method, folds=arm.folds)

    def _splits(self, arm: Arm) -> str:
        """Return which splits the run of an arm has: both protocols of five folds have the same."""
        protocol = self._protocol(arm)
        return "folds" if "CV5" in named_protocols().get(protocol, ()) else protocol

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

    def contrast(self, first: Arm, second: Arm) -> Difference | None:
        """Return first less second over the splits that both have; None where one has no run.

        A single split has no spread: its difference is taken as it is, rounded to what papers
        print. So is one against a run without a score. Runs without a split in common leave the
        difference open, and so do runs whose splits hold other rows: seeds of one, folds of the
        other, or other numbers of rows.
        """
        means = self.standing(first), self.standing(second)
        run = self.run(first)
        if run is None or means[0] is None or means[1] is None:
            return None
        if self._splits(first) != self._splits(second) and -math.inf not in means:
            return untold(means[0] - means[1])
        scores, other = self._by_seed(first), self._by_seed(second)
        if not scores or not other or -math.inf in means:
            return exactly(means[0] - means[1] if means[0] != means[1] else 0.0)
        sizes = [_sizes(run), _sizes(self.run(second))]
        common = [seed for seed in scores if seed in other and sizes[0][seed] == sizes[1][seed]]
        gaps = [scores[seed] - other[seed] for seed in common]
        if len(gaps) < 2:
            return exactly(gaps[0]) if gaps else untold(means[0] - means[1])
        return difference(gaps, test_share=test_share(run), margin=MARGIN)

    def per_split(self, arm: Arm) -> npt.NDArray[np.float64]:
        """Return the scores of an arm on its splits; 0 where its run gave none."""
        values = self._by_seed(arm)
        return np.array([*values.values()]) if values else np.zeros(1)

    def _by_seed(self, arm: Arm) -> dict[int, float]:
        """Return the score of each split by its seed; none where a split lacks it."""
        run = self.run(arm)
        if run is None:
            return {}
        values = run.per_split(run.reported(arm.metric, arm.paper))
        if np.isnan(values).any():
            return {}
        return dict(zip([split["seed"] for split in run.splits], values.tolist(), strict=True))

    def all_sound(self, paths: Sequence[str]) -> bool:
        """Say whether runs were named, and every one of them is sound."""
        sound = {run.path for run in self.runs.where(protocol="sound")}
        return bool(paths) and sound.issuperset(paths)

    def paths(self, arms: Sequence[Arm]) -> tuple[str, ...]:
        """Return the paths of the runs behind some arms, each once."""
        paths = [run.path for run in map(self.run, arms) if run]
        return tuple(dict.fromkeys(paths))

    def left_out(self, arm: Arm) -> str:
        """Return why an arm's data decide nothing here; empty where they can.

        Restricted data may not have been given, and the outcomes of some published data are lost.
        """
        if self.protocol == "as_published" and arm.dataset in lost_datasets(arm.paper):
            return f"{arm.dataset}, where {lost_datasets(arm.paper)[arm.dataset]}"
        if arm.dataset in restricted() and self.run(arm) is None:
            return f"{arm.dataset}, which needs {restricted()[arm.dataset]}"
        return ""

    def target(self, arm: Arm) -> str:
        """Return the record that an arm waits for."""
        folder = protocol_folder(self._protocol(arm))
        return f"results/{folder}{arm.dataset}/{arm.method}_k{arm.k}.json"


def test_share(run: Run) -> float:
    """Return the mean share of a run's splits that is tested."""
    sizes = [(split["n_test"], split["n_train"]) for split in run.splits]
    return float(np.mean([test / (test + train) for test, train in sizes]))


def tuned_alphas(run: Run) -> list[float]:
    """Return the alpha of each split of a run that tuned it; a fixed one decides nothing."""
    tuned = [split for split in run.splits if "alpha" in split.get("tuned", ())]
    return [float(split["hyperparameters"]["alpha"]) for split in tuned]


def exactly(gap: float) -> Difference:
    """Return a difference without spread; what is not seen in print is none."""
    gap = 0.0 if abs(gap) <= TIE else gap
    worse, better = float(gap < -MARGIN), float(gap > MARGIN)
    return Difference(
        mean=gap,
        low=gap,
        high=gap,
        p=1.0,
        p_equivalent=max(worse, better),
        detectable=0.0,
        worse=worse,
        same=1.0 - worse - better,
        better=better,
    )


def _sizes(run: Run | None) -> dict[int, tuple[int, int]]:
    """Return how many rows each split has to learn from and to test on, by its seed.

    Some methods learn from the validation rows too.
    """
    return {
        split["seed"]: (split["n_train"] + split.get("n_validation", 0), split["n_test"])
        for split in (run.splits if run else ())
    }


def untold(gap: float) -> Difference:
    """Return a difference of means that no split has in common: every question on it is open."""
    return Difference(
        mean=gap,
        low=-math.inf,
        high=math.inf,
        p=1.0,
        p_equivalent=1.0,
        detectable=math.inf,
        worse=0.5,
        same=0.0,
        better=0.5,
    )


def without(arms: Iterable[Arm], evidence: Evidence) -> str:
    """Say which data were left out, in one clause; empty where none were."""
    reasons = dict.fromkeys(filter(None, map(evidence.left_out, arms)))
    return f"; without {' and '.join(reasons)}" if reasons else ""


def nothing_left(arms: Sequence[Arm], evidence: Evidence) -> Decision:
    """Return the decision where all data of a claim are restricted or lost."""
    lost = any(arm.dataset in lost_datasets(arm.paper) for arm in arms)
    reason = without(arms, evidence).removeprefix("; without ") or "no open data set"
    return Decision(LOST if lost else NOT_DECIDABLE, f"the claim is about {reason}")


def lacking(arms: Iterable[Arm], evidence: Evidence) -> Decision | None:
    """Return the decision where arms have no run yet, else None."""
    missing = [arm for arm in dict.fromkeys(arms) if evidence.run(arm) is None]
    if not missing:
        return None
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return Decision(NOT_RUN, f"needs {evidence.target(missing[0])}{more}")
