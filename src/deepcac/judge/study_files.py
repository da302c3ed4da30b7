"""The files of the study, from its part of the configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deepcac.judge.contenders import parse_contender

FOLDER = "results/judge"
_EFFORT = (
    "resamples",
    "resamples_small",
    "small_rows",
    "train_rows",
    "trials",
    "network_trials",
)


@dataclass(frozen=True)
class StudyFiles:
    """Paths of the study.

    Attributes
    ----------
    judge : mapping
        The validated part ``judge`` of the configuration.
    reachable : callable
        Whether a data set can be had.
    """

    judge: Mapping[str, Any]
    reachable: Callable[[str], bool]

    @property
    def effort(self) -> dict[str, int]:
        """How much every contender is given (`deepcac.judge.trials.Effort`)."""
        return {name: self.judge[name] for name in _EFFORT}

    @property
    def trials(self) -> list[str]:
        """The stored trials of every contender on every data set that it meets on."""
        return list(
            dict.fromkeys(
                f"{FOLDER}/{dataset}/{parse_contender(name).id}.json"
                for match in self.judge["matches"]
                for dataset in filter(self.reachable, match["datasets"])
                for name in match["contenders"]
            )
        )

    @property
    def files(self) -> list[str]:
        """Everything that the study writes."""
        stored = [trial.removesuffix(".json") + ".parquet" for trial in self.trials]
        return [*self.trials, *stored, *self.planted, *self.verdicts]

    @property
    def planted(self) -> list[str]:
        """The records of the planted cohorts, one a strength."""
        strengths = self.judge["planted"]["strengths"]
        return [f"{FOLDER}/planted/strength_{strength:g}.json" for strength in strengths]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts and their summary, if anything is to be judged."""
        names = ("verdicts.csv", "summary.json") if self.judge["matches"] else ()
        return [f"{FOLDER}/{name}" for name in names]
