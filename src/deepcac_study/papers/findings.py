"""All finished work that the papers are compared with, apart from what says nothing about them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from deepcac_study.catalogue.registry import DEMO
from deepcac_study.papers.names import known_datasets
from deepcac_study.records.clusterings import Clusterings
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

_OPEN_DEMO = "_demo"  # the open part of restricted data, such as ``ards_demo``

Rename = Callable[[str, bool], str]  # data set, whether it was generated; empty leaves it out
T = TypeVar("T")


def renamed(found: Findings, rename: Rename) -> Findings:
    """Return what is about the data sets that a rule names, under the names that it gives.

    Of two runs with one name the first stays.
    """
    runs = {(r.protocol, r.dataset, r.method, r.k): r for r in _kept(found.runs, rename)[::-1]}
    moved = (found.sweeps.alpha, found.sweeps.weights, found.sweeps.separation)
    alpha, weights, separation = (_named(tables, rename) for tables in moved)
    return replace(
        found,
        runs=Runs(tuple(reversed(runs.values()))),
        sweeps=replace(found.sweeps, alpha=alpha, weights=weights, separation=separation),
        studies=_kept(found.studies, rename),
        theory=_kept(found.theory, rename),
        decompositions=_kept(found.decompositions, rename),
        resampled=_kept(found.resampled, rename),
    )


def of_the_papers(found: Findings) -> Findings:
    """Return what was found on the papers' own data: no other counts for or against them."""
    own = known_datasets()
    return renamed(found, lambda name, made: "" if made or name not in own else name)


def of_stand_ins(found: Findings) -> Findings:
    """Return what was found on stand-ins for the papers' data, under the ids of these data.

    Stand-ins are generated tables (``demo_*``) and the open demo of restricted data. The synthetic
    grid and Synth are no stand-ins: the papers generated theirs too.
    """

    def imitated(name: str, made: bool) -> str:
        found = name.removeprefix(DEMO).removesuffix(_OPEN_DEMO)
        return found if found in known_datasets() and (made or found != name) else ""

    apart = replace(found, clusterings=Clusterings(), sweeps=replace(found.sweeps, grid=None))
    return renamed(apart, imitated)


def _kept(records: Iterable[Any], rename: Rename) -> list[Any]:
    kept = []
    for one in records:
        if name := rename(str(one.record["dataset"]), one.synthetic):
            kept.append(replace(one, record={**one.record, "dataset": name, "synthetic": False}))
    return kept


def _named(tables: Mapping[tuple[str, int], T], rename: Rename) -> dict[tuple[str, int], T]:
    named = {(rename(name, name.startswith(DEMO)), k): table for (name, k), table in tables.items()}
    return {key: table for key, table in named.items() if key[0]}
