"""All finished work that the papers are compared with, apart from what says nothing about them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from deepcac_study.catalogue.registry import DEMO
from deepcac_study.papers.names import paper_datasets
from deepcac_study.records.clusterings import Clusterings
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Runs

_OPEN_DEMO = "_demo"  # the open part of restricted data, such as ``ards_demo``

Rename = Callable[[str, bool], str]  # data set, whether it was generated; empty leaves it out
T = TypeVar("T")


def renamed(findings: Findings, rename: Rename) -> Findings:
    """Return what is about the data sets that a rule names, under the names that it gives.

    Of two runs with one name the first stays.
    """
    runs = {
        (r.protocol, r.dataset, r.method, r.k): r
        for r in _renamed_records(findings.runs, rename)[::-1]
    }
    moved = (findings.sweeps.alpha, findings.sweeps.weights, findings.sweeps.separation)
    alpha, weights, separation = (_named(tables, rename) for tables in moved)
    return replace(
        findings,
        runs=Runs(tuple(reversed(runs.values()))),
        sweeps=replace(findings.sweeps, alpha=alpha, weights=weights, separation=separation),
        studies=_renamed_records(findings.studies, rename),
        theory=_renamed_records(findings.theory, rename),
        decompositions=_renamed_records(findings.decompositions, rename),
        resampled=_renamed_records(findings.resampled, rename),
    )


def of_the_papers(findings: Findings) -> Findings:
    """Return what was found on the papers' own data: no other counts for or against them."""
    datasets = paper_datasets()
    return renamed(findings, lambda name, made: "" if made or name not in datasets else name)


def of_stand_ins(findings: Findings) -> Findings:
    """Return what was found on stand-ins for the papers' data, under the ids of these data.

    Stand-ins are generated tables (``demo_*``) and the open demo of restricted data. The synthetic
    grid and Synth are no stand-ins: the papers generated theirs too.
    """

    def imitated(name: str, made: bool) -> str:
        original = name.removeprefix(DEMO).removesuffix(_OPEN_DEMO)
        return original if original in paper_datasets() and (made or original != name) else ""

    apart = replace(findings, clusterings=Clusterings(), sweeps=replace(findings.sweeps, grid=None))
    return renamed(apart, imitated)


def _renamed_records(records: Iterable[Any], rename: Rename) -> list[Any]:
    chosen = []
    for record in records:
        if name := rename(str(record.record["dataset"]), record.synthetic):
            chosen.append(
                replace(record, record={**record.record, "dataset": name, "synthetic": False})
            )
    return chosen


def _named(tables: Mapping[tuple[str, int], T], rename: Rename) -> dict[tuple[str, int], T]:
    named = {(rename(name, name.startswith(DEMO)), k): table for (name, k), table in tables.items()}
    return {key: table for key, table in named.items() if key[0]}
