"""Protocols: which differences between a paper's text and its published program are switched on.

The *sound* protocol has no switch on. *As published* has all those on that shaped printed
numbers. A protocol with one switch on measures the effect of that difference alone. Labels are
listed, with both readings, in ``facts/switches.csv``.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from deepcac.errors import ConfigError


@dataclass(frozen=True)
class Switch:
    """One named difference between a paper's text and its program.

    Attributes
    ----------
    label : str
        Short name, for example ``"L1"``.
    stage : str
        Where it acts: features, splits, scaling, cac, deep or metrics.
    printed : {"yes", "no"}
        Whether the printed numbers carry it; "no" for differences of later programs.
    sound, published : str
        What happens when it is off, and on.
    touches : str
        The printed tables it can change.
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
    text = (resources.files("deepcac") / "facts" / "switches.csv").read_text(encoding="utf-8")
    return {row["label"]: Switch(**row) for row in csv.DictReader(text.splitlines())}


def published_labels() -> frozenset[str]:
    """Return the labels that together are the *as published* protocol."""
    return frozenset(label for label, switch in switches().items() if switch.printed == "yes")


def _cross_validated() -> frozenset[str]:
    """Return *as published*, with the cross-validation of other tables for the one hold-out."""
    return published_labels() - {"A14"} | {"CV5"}


@dataclass(frozen=True)
class Protocol:
    """The set of switches that are on.

    Attributes
    ----------
    labels : frozenset of str
        Labels from `switches`; unknown ones are a `ConfigError`.
    """

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
        """``sound``, ``as_published``, ``as_published_cv5`` or the labels joined by ``+``."""
        if not self.labels:
            return "sound"
        if self.labels == published_labels():
            return "as_published"
        if self.labels == _cross_validated():
            return "as_published_cv5"
        return "+".join(sorted(self.labels))

    @classmethod
    def from_folder(cls, folder: str) -> "Protocol":
        """Read the protocol off a results folder.

        Parameters
        ----------
        folder : {"", "as_published/", "as_published_cv5/", "switches/LABEL/"}
            The part of the path between ``results/`` and the data set.
        """
        parts = [part for part in folder.split("/") if part]
        if not parts:
            return cls()
        if parts == ["as_published"]:
            return cls(published_labels())
        if parts == ["as_published_cv5"]:
            return cls(_cross_validated())
        if len(parts) == 2 and parts[0] == "switches":
            return cls(frozenset({parts[1]}))
        raise ConfigError(
            f"no protocol {folder!r}; use '', 'as_published/', 'as_published_cv5/' or "
            "'switches/LABEL/'"
        )


SOUND = Protocol()
