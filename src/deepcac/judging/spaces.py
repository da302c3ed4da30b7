"""The spaces that trials are drawn from: same values in every resample and every arm."""

import zlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from deepcac.errors import ConfigError
from deepcac.files.declared import Entry, checked, parsed

# The workflow reads the learners where there is only Snakemake: numpy is imported where it draws.
if TYPE_CHECKING:
    import numpy as np

Values = dict[str, Any]
PARTITION = "partition"
CLUSTERING = "clustering"  # the kind of an entry that is a way to cluster, and no learner
GRID_CLUSTERS = (2, 3, 4, 5)
GRID_ALPHAS = (0.03, 0.0, 0.003, 0.3, 3.0)


class Dimension(Entry):
    """One hyper-parameter: its default, and how it is drawn."""

    default: Any
    choice: list[Any] | None = None
    uniform: tuple[float, float] | None = None
    log: tuple[float, float] | None = None
    int: bool = False
    zero: float = Field(0.0, ge=0, le=1, description="share of values that are exactly 0")

    @model_validator(mode="after")
    def _range_or_choice(self) -> "Dimension":
        if sum(way is not None for way in (self.choice, self.uniform, self.log)) != 1:
            raise ValueError("name one of choice, uniform and log")
        return self

    def draw(self, rng: "np.random.Generator") -> Any:
        """Return one value; two numbers are taken from `rng` whatever the dimension is."""
        import numpy as np

        place, chance = rng.random(2)
        if chance < self.zero:
            return 0.0
        if self.choice is not None:
            return self.choice[int(place * len(self.choice))]
        if self.log is not None:
            low, high = np.log(self.log)
            value = float(np.exp(low + place * (high - low)))
            return round(value) if self.int else float(f"{value:.4g}")
        assert self.uniform is not None
        low, high = self.uniform
        if self.int:  # every whole number of the range is as likely
            return int(low + np.floor(place * (high - low + 1)))
        return float(f"{low + place * (high - low):.4g}")


class Learner(Entry):
    """What is drawn for a learner, and what fits it; the partition has neither kind nor fit."""

    kind: Literal[
        "plain",
        "boosting",
        "bent",
        "experts",
        "bagging",
        "network",
        "latent",
        "subtypes",
        "clustering",
    ] = "plain"
    fit: str = ""
    drawn_as: str = Field("", description="the learner whose draws it takes, if not its own")
    space: dict[str, Dimension]


@cache
def learners() -> dict[str, Learner]:
    """Return every entry of `spaces.yaml`."""
    text = (resources.files("deepcac.judging") / "spaces.yaml").read_text(encoding="utf-8")
    entries = parsed(text)
    return {
        name: checked(Learner, entry, f"spaces.yaml, {name}") for name, entry in entries.items()
    }


def of_kind(*kinds: str) -> list[str]:
    """Return the learners of some kinds, in the order of `spaces.yaml`."""
    catalogue = learners().items()
    return [name for name, learner in catalogue if learner.kind in kinds and name != PARTITION]


def partition_grid(n: int) -> list[Values]:
    """Return `n` partitions that go through every number of clusters and every alpha in turn.

    With `n` a multiple of `GRID_CLUSTERS` times `GRID_ALPHAS` each cell is there as often as the
    others; alpha 0 is k-means. The first is that of the defaults.
    """
    cells = [{"n_clusters": k, "alpha": alpha} for alpha in GRID_ALPHAS for k in GRID_CLUSTERS]
    return [dict(cells[place % len(cells)]) for place in range(n)]


def trials(learner: str, n: int) -> list[Values]:
    """Return the values of `n` trials; the first has the defaults."""
    if learner not in learners():
        raise ConfigError(f"no space for {learner!r}; it needs an entry in judging/spaces.yaml")
    import numpy as np

    space = learners()[learner].space
    name = learners()[learner].drawn_as or learner
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    drawn = [{name: parameter.draw(rng) for name, parameter in space.items()} for _ in range(n - 1)]
    return [{name: parameter.default for name, parameter in space.items()}, *drawn]
