"""The contenders: a learner alone, or one in each part of a partition, or with distances."""

import difflib
from dataclasses import dataclass

from deepcac.errors import ConfigError
from deepcac.judging.spaces import (
    CLUSTERING,
    PARTITION,
    Values,
    learners,
    of_kind,
    partition_grid,
    trials,
)

# A model in each part by k-means or CAC; as further features the distances to the k-means centres,
# the cluster of k-means, or the weights of a Gaussian mixture; and controls: a model in each cell
# around rows drawn at random, or in each bucket of a hash.
KM, CAC, DISTANCES, IDS, SOFT, CELLS, HASH = ARMS = (
    *("km", "cac", "dist", "ids", "soft", "cells", "hash"),
)
# Models that bend a learner without clusters, and the learner.
BENT_OF = {
    **{"spline_lr": "lr", "products_lr": "lr", "moe": "lr", "ebm": "lr"},
    "linear_lgbm": "lgbm",
}
BESIDE = (DISTANCES, IDS, SOFT)  # clusters as further features


_WHOLE = ("latent", "subtypes", "bagging", "experts")  # kinds that have no arms


@dataclass(frozen=True)
class Contender:
    """A learner of `spaces.yaml` and its arm, one of `arms`, or nothing for the learner alone."""

    learner: str
    arm: str = ""

    @property
    def id(self) -> str:
        """Name in paths and tables."""
        return f"{self.arm}_{self.learner}" if self.arm else self.learner

    @property
    def network(self) -> bool:
        """Whether its trials are networks, of which fewer are made."""
        return self.kind in ("network", "latent", "subtypes", "experts")

    @property
    def clustered(self) -> bool:
        """Whether it uses clusters; random cells and the buckets of a hash are none."""
        return bool(self.arm) and self.arm not in (CELLS, HASH)

    @property
    def in_parts(self) -> bool:
        """Whether it has a model in each cluster."""
        return self.clustered and self.arm not in BESIDE

    @property
    def kind(self) -> str:
        """What its learner is."""
        return learners()[self.learner].kind

    def trials(self, n: int) -> list[Values]:
        """Return the values of its trials, of `n` draws.

        Those of an arm have the partition's values as well. Its draws of one cluster are left out:
        the arm may choose trials of the learner alone anyhow (`choice.open_to`). A learner of fixed
        settings has one trial.
        """
        return self._parted(n, trials(PARTITION, n))

    def grid_trials(self, n: int) -> list[Values]:
        """Return trials whose clusters and alpha are no draws: every cell in turn."""
        return self._parted(n, partition_grid(n))

    def _parted(self, n: int, partitions: list[Values]) -> list[Values]:
        drawn = trials(self.learner, n if learners()[self.learner].space else 1)
        if not self.arm:
            return drawn
        if self.arm != CAC:
            partitions = [
                {k: v for k, v in values.items() if k != "alpha"} for values in partitions
            ]
        both = zip(drawn, partitions, strict=True)
        return [values | partition for values, partition in both if partition["n_clusters"] > 1]


def arms() -> list[str]:
    """Return the arms: `ARMS`, and the clusterings that `spaces.yaml` adds."""
    return [*ARMS, *of_kind(CLUSTERING)]


def parse_contender(name: str) -> Contender:
    """Return the contender of an id such as ``lgbm`` or ``cac_lr``."""
    learner_names = set(learners()) - {PARTITION, *of_kind(CLUSTERING)}
    if name in learner_names:
        return Contender(name)
    arm, _, learner = name.partition("_")
    within = learner_names - set(of_kind(*_WHOLE))
    if arm in arms() and learner in within:
        return Contender(learner, arm)
    known = sorted(learner_names | {f"{arm}_{learner}" for arm in arms() for learner in within})
    near = difflib.get_close_matches(name.lower(), known)
    every = (
        f"use a learner ({', '.join(sorted(learner_names))}), or a way to use clusters "
        f"({', '.join(arms())}) and a learner, as in cac_lr"
    )
    raise ConfigError(
        f"no model {name!r}; " + (f"near names: {', '.join(near)}" if near else every)
    )
