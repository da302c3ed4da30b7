"""Protocols: which differences between a paper's text and its published program are switched on.

The *sound* protocol has no switch on. *As published* has all those on that affected printed
numbers. A protocol with one switch on measures the effect of that difference alone. Labels are
listed, with both readings, in ``catalogue/switches.csv``.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from deepcac.errors import ConfigError


@dataclass(frozen=True)
class Switch:
    """One named difference between a paper's text and its program.

    `stage` is where it acts: features, splits, scaling, cac, deep or metrics. `printed` is "yes" if
    printed numbers were made with it, "no" for later programs. `sound` and `published` describe
    what happens when it is off, and on; `touches` names the printed tables it can change.
    """

    label: str
    stage: str
    printed: str
    sound: str
    published: str
    touches: str


@cache
def switches() -> dict[str, Switch]:
    """Return every known switch by label."""
    text = (resources.files("deepcac_study.catalogue") / "switches.csv").read_text(encoding="utf-8")
    return {row["label"]: Switch(**row) for row in csv.DictReader(text.splitlines())}


def published_labels() -> frozenset[str]:
    """Return the labels of the *as published* protocol."""
    return frozenset(label for label, switch in switches().items() if switch.printed == "yes")


@cache
def named_protocols() -> dict[str, frozenset[str]]:
    """Return the labels of each named protocol, whose results folder has the same name.

    ``as_published_cv5`` and ``as_published_v2`` repeat the tables printed from five-fold
    cross-validation, with the alphas of CAC v1 and of CAC v2.
    """
    published = published_labels()
    folds = published - {"A14"} | {"CV5"}
    return {"as_published": published, "as_published_cv5": folds, "as_published_v2": folds | {"V2"}}


def protocol_folder(name: str) -> str:
    """Return the results folder of a protocol; ``sound`` uses ``results`` itself."""
    return "" if name == "sound" else f"{name}/"


def folder_pattern() -> str:
    """Return a regular expression of the results folders of all protocols."""
    return "((" + "|".join(named_protocols()) + ")/|switches/[A-Z]+[0-9]+/)?"


@dataclass(frozen=True)
class Protocol:
    """The set of switches that are on; an unknown label is a `ConfigError`."""

    labels: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        unknown = sorted(self.labels - switches().keys())
        if unknown:
            raise ConfigError(f"unknown switch {unknown[0]!r}; known: {', '.join(switches())}")

    def __contains__(self, label: str) -> bool:
        if label not in switches():
            raise ConfigError(f"unknown switch {label!r}; known: {', '.join(switches())}")
        return label in self.labels

    @property
    def name(self) -> str:
        """``sound``, one of `named_protocols`, or the labels joined by ``+``."""
        if not self.labels:
            return "sound"
        names = {labels: name for name, labels in named_protocols().items()}
        return names.get(self.labels, "+".join(sorted(self.labels)))

    @classmethod
    def from_folder(cls, folder: str) -> "Protocol":
        """Return the protocol of the part of a path between ``results/`` and the data set.

        That is empty, ``NAME/`` of a named protocol, or ``switches/LABEL/``.
        """
        parts = [part for part in folder.split("/") if part]
        if not parts:
            return cls()
        if len(parts) == 1 and parts[0] in named_protocols():
            return cls(named_protocols()[parts[0]])
        if len(parts) == 2 and parts[0] == "switches":
            return cls(frozenset({parts[1]}))
        raise ConfigError(
            f"no protocol {folder!r}; use '', 'switches/LABEL/', or one of "
            + ", ".join(f"'{name}/'" for name in named_protocols())
        )


SOUND = Protocol()
