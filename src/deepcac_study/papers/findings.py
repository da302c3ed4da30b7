"""All finished work that the papers are compared with, apart from what says nothing about them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from deepcac_study.catalogue.registry import DEMO
from deepcac_study.experiments.finished import Runs
from deepcac_study.experiments.finished_clusterings import Clusterings
from deepcac_study.experiments.finished_decompositions import DecompositionRecord, ResampledRecord
from deepcac_study.experiments.finished_studies import CaseStudy
from deepcac_study.experiments.finished_sweeps import Sweeps
from deepcac_study.experiments.theorem_checks import TheoryRecord
from deepcac_study.papers.names import known_datasets

_OPEN_DEMO = "_demo"  # the open part of restricted data, such as ``ards_demo``

Rename = Callable[[str, bool], str]  # data set, whether it was generated; empty leaves it out
T = TypeVar("T")


@dataclass(frozen=True)
class Findings:
    """What was found; any part may be empty."""

    runs: Runs
    sweeps: Sweeps = field(default_factory=Sweeps)
    studies: Sequence[CaseStudy] = ()
    theory: Sequence[TheoryRecord] = ()
    decompositions: Sequence[DecompositionRecord] = ()
    resampled: Sequence[ResampledRecord] = ()
    clusterings: Clusterings = field(default_factory=Clusterings)

    def renamed(self, rename: Rename) -> "Findings":
        """Return what is about the data sets that a rule names, under the names that it gives.

        Of two runs with one name the first stays.
        """
        runs = {(r.protocol, r.dataset, r.method, r.k): r for r in _kept(self.runs, rename)[::-1]}
        moved = (self.sweeps.alpha, self.sweeps.weights, self.sweeps.separation)
        alpha, weights, separation = (_named(tables, rename) for tables in moved)
        return replace(
            self,
            runs=Runs(tuple(reversed(runs.values()))),
            sweeps=replace(self.sweeps, alpha=alpha, weights=weights, separation=separation),
            studies=_kept(self.studies, rename),
            theory=_kept(self.theory, rename),
            decompositions=_kept(self.decompositions, rename),
            resampled=_kept(self.resampled, rename),
        )


def of_the_papers(found: Findings) -> Findings:
    """Return what was found on the papers' own data: no other counts for or against them."""
    return found.renamed(lambda name, made: "" if made or name not in known_datasets() else name)


def of_stand_ins(found: Findings) -> Findings:
    """Return what was found on stand-ins for the papers' data, under the ids of these data.

    Stand-ins are generated tables (``demo_*``) and the open demo of restricted data. The synthetic
    grid and Synth are no stand-ins: the papers generated theirs too.
    """

    def imitated(name: str, made: bool) -> str:
        found = name.removeprefix(DEMO).removesuffix(_OPEN_DEMO)
        return found if found in known_datasets() and (made or found != name) else ""

    return replace(
        found, clusterings=Clusterings(), sweeps=replace(found.sweeps, grid=None)
    ).renamed(imitated)


def _kept(records: Iterable[Any], rename: Rename) -> list[Any]:
    kept = []
    for one in records:
        if name := rename(str(one.record["dataset"]), one.synthetic):
            kept.append(replace(one, record={**one.record, "dataset": name, "synthetic": False}))
    return kept


def _named(tables: Mapping[tuple[str, int], T], rename: Rename) -> dict[tuple[str, int], T]:
    named = {(rename(name, name.startswith(DEMO)), k): table for (name, k), table in tables.items()}
    return {key: table for key, table in named.items() if key[0]}
