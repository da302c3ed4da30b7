"""Mapping from printed names in the papers to ids of this project.

It is `names.csv` of each paper: kind (data set or method), printed name, id, the number of clusters
where a table gives none, how to get access to the data, and which part of the data is lost.
"""

from dataclasses import dataclass
from functools import cache

from deepcac_study.catalogue.facts import facts

LOGS = "authors"  # in the column `paper`: the logs of DeepCAC's authors


@dataclass(frozen=True)
class Name:
    """One row of the mapping."""

    id: str  # id in this project; empty where there is none
    # Of a method, where a table gives none; of a data set, that of every method with clusters.
    k: int | None
    needs: str  # what gives access to the data; empty for open data
    # Why nobody can rebuild the data that the numbers were printed from; empty if they can be.
    lost: str


UNKNOWN = Name("", None, "", "")


@cache
def names() -> dict[tuple[str, str, str], Name]:
    """Return the mapping by (kind, paper, printed name)."""
    return {
        (row["kind"], row["paper"], row["printed"]): Name(
            row["id"], int(row["k"]) if row["k"] else None, row["needs"], row["lost"]
        )
        for row in facts("names")
    }


@cache
def restricted() -> dict[str, str]:
    """Return how to get access, by id of each restricted data set."""
    return {name.id: name.needs for name in names().values() if name.id and name.needs}


@cache
def paper_datasets() -> frozenset[str]:
    """Return the ids of all data sets of the five papers; results on others never count."""
    return frozenset(name.id for (kind, *_), name in names().items() if kind == "dataset")


@cache
def lost_datasets(paper: str) -> dict[str, str]:
    """Return why data cannot be rebuilt, by id of the paper's data sets with lost parts."""
    entries = (name for key, name in names().items() if key[:2] == ("dataset", paper))
    return {name.id: name.lost for name in entries if name.lost}


def clusters(printed_k: str, method: Name, dataset: Name) -> int | None:
    """Return the k of the run that a printed cell belongs to.

    If the table gives none, a method with clusters has the paper's usual one: k = 2, but 3 on
    Credit in CAC v1 (section 6.2).
    """
    if printed_k:
        return int(printed_k)
    return dataset.k if dataset.k and method.k and method.k > 1 else method.k


def usual_k(paper: str, dataset: str, method: str) -> int:
    """Return the k that a paper usually uses for a data set and a method, given by id."""
    return clusters("", _by_id("method", paper, method), _by_id("dataset", paper, dataset)) or 1


def _by_id(kind: str, paper: str, id_: str) -> Name:
    matching = (
        name for key, name in names().items() if key[:2] == (kind, paper) and name.id == id_
    )
    return next(matching, UNKNOWN)


def printed_datasets(source: str) -> tuple[str, ...]:
    """Return the ids of a printed table's data sets, in its order."""
    return _ids("dataset", source)


def printed_methods(source: str) -> tuple[str, ...]:
    """Return the ids of a printed table's methods, in its order."""
    return _ids("method", source)


def _ids(kind: str, source: str) -> tuple[str, ...]:
    """Return our ids of the printed names in a table, without repeats."""
    ids = (names()[kind, row["paper"], row[kind]].id for row in facts(source))
    return tuple(dict.fromkeys(ids))
