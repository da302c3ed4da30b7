"""Paths of run records, taken apart; and patterns by which the workflow tells them from others."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from deepcac_study.catalogue.methods import DEEPCAC, KM_Z, parse_method
from deepcac_study.catalogue.protocol import folder_pattern
from deepcac_study.catalogue.record_kinds import NO_RUNS

# What is repeated from several starts of the autoencoder: methods soundly, and with one switch on
# that changes neither features nor splits.
STARTED = {DEEPCAC: ("D4", "D6", "D8", "D10", "D16", "D18", "D19"), KM_Z: ("D19",)}


def started_runs(dataset: str, k: int | str) -> list[str]:
    """Return the records of the runs that are the first of several starts."""
    return [
        f"results/{f'switches/{label}/' if label else ''}{dataset}/{method}_k{k}.json"
        for method, labels in STARTED.items()
        for label in ("", *labels)
    ]


def runs_among(paths: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the parts of those paths that are run records: variant, dataset, method, k."""
    run = re.compile(
        rf"results/(?P<variant>{folder_pattern()})(?P<dataset>\w+)/"
        r"(?P<method>\w+)_k(?P<k>\d+)\.json"
    )
    for path in paths:
        match = run.fullmatch(path)
        if match and match["dataset"] not in NO_RUNS:
            yield match.groupdict()


def dataset_pattern() -> str:
    """Return a regular expression of data set ids, which a folder of other records is not."""
    return f"(?!({'|'.join(NO_RUNS)})/)[a-z0-9_]+"


class Together(NamedTuple):
    """Runs that one job makes, in all the places where the configuration plans just these."""

    # How the names of the files go on after a place: ``("lr_k1", "km_lr_k2")``, or ``("1", "2")``.
    ends: tuple[str, ...]
    places: tuple[str, ...]  # how the paths begin: ``"as_published/cic/"``, or ``"cic/km_z_k"``

    @property
    def only_here(self) -> str:
        """A pattern, to begin that of ``variant`` with: the path is at such a place."""
        return f"(?={'|'.join(self.places)})"


def nowhere_in(groups: Iterable[Together]) -> str:
    """Return a pattern, to begin that of ``variant`` with: the file is in none of the groups."""
    files = (f"(?:{'|'.join(group.places)})(?:{'|'.join(group.ends)})" for group in groups)
    return f"(?!(?:{'|'.join(files)})\\.)"


def tables_together(paths: Iterable[str]) -> list[Together]:
    """Return the runs of the CAC family by table and protocol: they share their clusterings."""
    by_place: dict[str, list[str]] = {}
    for run in runs_among(paths):
        if parse_method(run["method"]).family == "cac":
            place = f"{run['variant']}{run['dataset']}/"
            by_place.setdefault(place, []).append(f"{run['method']}_k{run['k']}")
    return _by_ends(by_place)


def with_those_beside(
    groups: Iterable[Together], place: str, ends: Sequence[str]
) -> tuple[str, ...]:
    """Return the ends of the runs that come together with those at a place; else those again."""
    for group in groups:
        if place in group.places and {*ends} <= {*group.ends}:
            return group.ends
    return tuple(ends)


def networks_together(paths: Iterable[str]) -> list[Together]:
    """Return the numbers of clusters of each network on a table: they share the scaled splits.

    Networks on sequences are left out: one takes minutes.
    """
    by_place: dict[str, list[str]] = {}
    for run in runs_among(paths):
        method = parse_method(run["method"])
        if method.family == "deep" and not method.sequence:
            place = f"{run['variant']}{run['dataset']}/{method.id}_k"
            by_place.setdefault(place, []).append(run["k"])
    return _by_ends(by_place)


def joined(ends: Iterable[str]) -> str:
    """Return numbers of clusters as a part of a rule's name, such as ``23`` or ``_10_2``.

    One of several digits stands between signs, so that no two lists have one name.
    """
    return "".join(end if len(end) == 1 else f"_{end}_" for end in ends)


def _by_ends(by_place: Mapping[str, list[str]]) -> list[Together]:
    places: dict[tuple[str, ...], list[str]] = {}
    for place, ends in by_place.items():
        if len(ends) > 1:
            places.setdefault(tuple(sorted(ends)), []).append(place)
    return [Together(ends, tuple(folders)) for ends, folders in places.items()]
