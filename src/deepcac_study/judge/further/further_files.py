"""The files of the questions where a cluster could tell more than its predictors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from deepcac.errors import ConfigError
from deepcac_study.catalogue.record_kinds import GENERATED
from deepcac_study.judge.study_files import FOLDER, FURTHER, RICHER, SCORECARDS, TRANSFER

PLANTED = GENERATED  # before the strength of generated cohorts
LEARNERS = ("lr", "lgbm")


@dataclass(frozen=True)
class FurtherFiles:
    """Paths of the three questions.

    `judge` is the validated part of the configuration; `reachable` says whether a data set can be
    had.
    """

    judge: Mapping[str, Any]
    reachable: Callable[[str], bool]

    @property
    def records(self) -> list[str]:
        """Every record."""
        return [path for part in FURTHER for path in self.part(part)]

    def part(self, part: str) -> list[str]:
        """Return the records of one question, a name of `FURTHER`."""
        settings = self.judge[part]
        if part == RICHER:
            both = product(filter(self.reachable, settings), LEARNERS)
            return [f"{FOLDER}/{part}/{name}_{learner}.json" for name, learner in both]
        if part == SCORECARDS:
            names = [name for name in settings["datasets"] if self.reachable(name)]
        else:
            names = [move["name"] for move in settings["moves"] if self.reachable(move["dataset"])]
        planted = (f"{PLANTED}{strength:g}" for strength in settings["strengths"])
        return [f"{FOLDER}/{part}/{name}.json" for name in (*names, *planted)]

    def move(self, name: str) -> Mapping[str, Any]:
        """Return a move of the configuration."""
        moves = {move["name"]: move for move in self.judge[TRANSFER]["moves"]}
        if name not in moves:
            raise ConfigError(
                f"no move {name!r} in the configuration; known: {', '.join(moves) or 'none'}"
            )
        return moves[name]
