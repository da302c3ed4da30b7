"""Methods: ids, the learner behind each (``methods.yaml``), and the arm in comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from deepcac.errors import ConfigError
from deepcac.files.declared import Entry, checked, parsed, resolve
from deepcac_study.catalogue.entries import Id
from deepcac_study.catalogue.near_names import near_names

ARM_NAMES = {"km": "KM", "cac": "CAC", "skm": "SKM", "cd": "CD", "cdk": "CD-KM"}
# An arm has one colour whatever its classifier is; a learner alone has its own (`Learner.colour`).
ARM_COLOURS = dict(
    zip(ARM_NAMES, ("#D55E00", "#0072B2", "#AA8800", "#44AA99", "#882255"), strict=True)
)
_USUAL = ("km", "cac")
ROWS, CLASSES = ("km", "cac", "skm"), ("cd", "cdk")  # what an arm decomposes
_TS = "_ts"

DEEPCAC = "deepcac"  # whose loss weights are swept and whose clusters the case study shows
KM_Z = "km_z"  # the same without a loss that shapes the latents
LR, KM_LR = "lr", "km_lr"
NB = "nb"  # the only base whose groups can be fitted separately
CAC_LR = "cac_lr"  # what the papers' figures on single fits of CAC are about
CENTROID_RULE = "nearest_centroid"  # what CAC is where the clusters are the classes
YARDSTICKS = ("fnn", LR, "xgb")  # what a method with clusters should at least beat
WELL_KNOWN = (LR, KM_LR, CAC_LR, "xgb", "fnn", "deepcac", "dmnn", "km_z")  # drawn first


class Learner(Entry):
    """The learner behind methods: a classifier of the CAC family, or a network."""

    label: str = Field(description="Its name for people.")
    estimator: str = Field(
        pattern=r"^(linear|cac|consensus|decomposition|nn|similarity)(\.\w+)+$",
        description="Estimator or function inside the library.",
    )
    colour: str = Field("#7F7F7F", pattern="^#[0-9A-F]{6}$", description="In every picture.")
    clustered: bool = Field(True, description="Whether a network has a number of clusters.")
    arms: tuple[Literal["km", "cac", "skm", "cd", "cdk"], ...] = Field(
        (), description="Ways to use clusters that are made of it in addition to those of its part."
    )
    noise: Literal["lines", "discriminants", "trees", "neighbours", "clusters"] = Field(
        "lines", description="What the repeats of a classifier alone differ like, by a last digit."
    )
    printed_alpha: bool = Field(
        False, description="Whether alpha is the printed one in the corrected protocol, too."
    )
    sequence: dict[str, Any] | None = Field(
        None, description="Settings on hourly sequences; null where there is no such variant."
    )

    @property
    def computing(self) -> dict[str, Any]:
        """The entries that affect results, without those for display."""
        return self.model_dump(include={"estimator", "clustered", "printed_alpha", "sequence"})

    def load(self) -> Any:
        """Import and return the estimator class or function."""
        return resolve(f"deepcac.{self.estimator}")


class Learners(Entry):
    """All learners, by the part of ``methods.yaml`` that decides which methods they make."""

    networks: dict[Id, Learner]
    alone: dict[Id, Learner]
    classifiers: dict[Id, Learner]


@cache
def learners() -> Learners:
    """Return every learner."""
    text = (resources.files("deepcac_study.catalogue") / "methods.yaml").read_text(encoding="utf-8")
    return checked(Learners, parsed(text), "catalogue/methods.yaml")


@dataclass(frozen=True)
class Method:
    """The parts of a method id.

    `family` ("cac" or "deep") says which adapter fits it and how its tasks are made
    (`prepare.Setting`). `arm` ("base", "km", "cac", "skm", "cd", "cdk" or "deep") is its place in
    the papers' comparisons: alone, or with clusters of rows (k-means, CAC, k-means in a learnt
    metric) or of each class (EM, k-means). `classifier` is its learner's id; `sequence` methods
    read hourly sequences, all others static features.
    """

    id: str
    family: str
    arm: str
    classifier: str
    learner: Learner
    sequence: bool = False

    @property
    def clustered(self) -> bool:
        """Whether the method has a number of clusters."""
        return self.arm != "base" and self.learner.clustered

    @property
    def colour(self) -> str:
        """Its colour in all figures."""
        return ARM_COLOURS.get(self.arm, self.learner.colour)

    @property
    def label(self) -> str:
        """The method's display name, for example ``CAC+LR``."""
        kind = " (sequence)" if self.sequence else ""
        lead = f"{ARM_NAMES[self.arm]}+" if self.arm in ARM_NAMES else ""
        return f"{lead}{self.learner.label}{kind}"


@cache
def methods() -> Mapping[str, Method]:
    """Return every method by id."""
    catalogue = learners()
    plain = catalogue.classifiers | catalogue.alone
    entries = [Method(name, "cac", "base", name, learner) for name, learner in plain.items()]
    entries += [
        Method(f"{arm}_{name}", "cac", arm, name, learner)
        for arm in ARM_NAMES
        for name, learner in plain.items()
        if arm in learner.arms or (arm in _USUAL and name in catalogue.classifiers)
    ]
    for name, learner in catalogue.networks.items():
        entries.append(Method(name, "deep", "deep", name, learner))
        if learner.sequence is not None:
            entries.append(Method(f"{name}{_TS}", "deep", "deep", name, learner, sequence=True))
    return MappingProxyType({method.id: method for method in entries})


def classifiers() -> tuple[str, ...]:
    """Return the ids of the base classifiers."""
    return tuple(learners().classifiers)


def bases() -> tuple[str, ...]:
    """Return the ids of all classifiers that have arms with clusters."""
    return tuple(m.id for m in methods().values() if m.arm == "base" and f"km_{m.id}" in methods())


def is_network(method: str) -> bool:
    """Return whether a method id is that of a network on static features."""
    return method in learners().networks


def parse_method(name: str) -> Method:
    """Return a method; an unknown id is a `ConfigError` that names similar ones."""
    if name in methods():
        return methods()[name]
    raise ConfigError(f"unknown method {name!r}; {near_names(name, methods())}")


def label(method: str) -> str:
    """Return the display name of a method id, for example ``CAC+LR`` for ``cac_lr``."""
    return parse_method(method).label
