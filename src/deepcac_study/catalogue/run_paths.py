"""Paths of run records, taken apart; and patterns by which the workflow tells them from others."""

import re
from collections.abc import Iterable, Iterator, Sequence

from deepcac_study.catalogue.config import Plan
from deepcac_study.catalogue.methods import classifiers, parse_method
from deepcac_study.catalogue.protocol import folder_pattern
from deepcac_study.catalogue.registry import NO_RUNS


def runs_among(paths: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the parts of those paths that are run records: variant, dataset, method, k."""
    run = re.compile(
        rf"results/(?P<variant>{folder_pattern()})(?P<dataset>\w+)/"
        r"(?P<method>\w+)_k(?P<k>\d+)\.json"
    )
    for path in paths:
        found = run.fullmatch(path)
        if found and found["dataset"] not in NO_RUNS:
            yield found.groupdict()


def dataset_pattern() -> str:
    """Return a regular expression of data set ids, which a folder of other records is not."""
    return f"(?!({'|'.join(NO_RUNS)})/)[a-z0-9_]+"


def datasets_of_whole_arms(plans: Sequence[Plan]) -> str:
    """Return a pattern of the data sets, each before its k, with KM+X and CAC+X of every X.

    It matches ``cic`` of ``cic/cac_lr_k2.json`` if all of these runs are planned for k = 2.
    """
    whole = {f"{arm}_{x}" for arm in ("km", "cac") for x in classifiers()}
    found: dict[str, set[str]] = {}
    for plan in plans:
        if whole <= set(plan.methods):
            for dataset in plan.datasets:
                found.setdefault(dataset, set()).update(map(str, plan.clusters(dataset)))
    places = [rf"{name}(?=/\w+_k({'|'.join(sorted(ks))})\.)" for name, ks in found.items()]
    return "|".join(places) or "(?!)"


def networks_of_every_k(plans: Sequence[Plan]) -> tuple[list[int], str]:
    """Return numbers of clusters, and a pattern of the data sets whose networks have them all.

    They are those of the plan with most of them. The pattern matches ``cic`` of
    ``cic/km_z_k2.json`` if that plan has it, soundly and as published. Networks on sequences are
    left out: one takes minutes.
    """
    both = [plan for plan in plans if {"sound", "as_published"} <= set(plan.protocols)]
    plan = max(both, key=lambda plan: len(plan.clusters("")), default=None)
    if plan is None or plan.part != "deep" or len(plan.clusters("")) == 1:
        return [1], "(?!)"
    parsed = map(parse_method, plan.methods)
    names = "|".join(one.id for one in parsed if one.clustered and not one.sequence)
    same = [name for name in plan.datasets if plan.clusters(name) == plan.clusters("")]
    return plan.clusters(""), "|".join(rf"{name}(?=/({names})_k\d)" for name in same)
