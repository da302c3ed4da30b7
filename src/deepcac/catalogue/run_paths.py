"""Paths of run records, taken apart; and patterns by which the workflow tells them from others."""

import re
from collections.abc import Iterable, Iterator, Sequence

from deepcac.catalogue.config import Plan
from deepcac.catalogue.methods import classifiers
from deepcac.catalogue.protocol import folder_pattern

# Folders of other records.
_NO_RUNS = ("theory", "case_study", "profiles", "decomposition", "bias_variance")


def runs_among(paths: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the parts of those paths that are run records: variant, dataset, method, k."""
    run = re.compile(
        rf"results/(?P<variant>{folder_pattern()})(?P<dataset>\w+)/"
        r"(?P<method>\w+)_k(?P<k>\d+)\.json"
    )
    for path in paths:
        found = run.fullmatch(path)
        if found and found["dataset"] not in _NO_RUNS:
            yield found.groupdict()


def dataset_pattern() -> str:
    """Return a regular expression of data set ids, which a folder of other records is not."""
    return f"(?!({'|'.join(_NO_RUNS)})/)[a-z0-9_]+"


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
