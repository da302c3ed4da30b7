"""The comparisons of the CAC papers: data sets, classifiers, and (plain, KM, CAC) triples."""

from collections.abc import Mapping, Sequence

from deepcac_study.catalogue.methods import classifiers
from deepcac_study.papers.evidence import Arm
from deepcac_study.papers.names import printed_datasets, printed_methods, usual_k

Triples = Mapping[str, Sequence[Sequence[Arm]]]


def cac_arm(
    paper: str, dataset: str, method: str, metric: str = "f1", *, folds: bool = False
) -> Arm:
    """Return an arm with the k that the paper uses."""
    return Arm(dataset, method, usual_k(paper, dataset, method), metric, paper, folds)


def base_classifiers(source: str) -> list[str]:
    """Return the base classifiers of a printed table of scores, in its order."""
    return [method for method in printed_methods(source) if method in classifiers()]


def triples(paper: str, source: str, *, folds: bool = False) -> dict[str, list[list[Arm]]]:
    """Return the (plain, KM, CAC) arms of a printed table by data set, one triple a classifier."""
    names = [(base, f"km_{base}", f"cac_{base}") for base in base_classifiers(source)]
    if paper == "cac_v1":
        names.append(("fnn", "dmnn", "cac_dmnn"))
    return {
        dataset: [
            [cac_arm(paper, dataset, name, folds=folds) for name in triple] for triple in names
        ]
        for dataset in printed_datasets(source)
    }


def paired(groups: Triples, first: int, second: int) -> dict[str, list[tuple[Arm, Arm]]]:
    """Return two of the three arms (0 plain, 1 KM, 2 CAC) of each triple, by data set."""
    return {
        dataset: [(triple[first], triple[second]) for triple in rows]
        for dataset, rows in groups.items()
    }


def flat(groups: Mapping[str, list[tuple[Arm, Arm]]]) -> list[tuple[Arm, Arm]]:
    """Return the comparisons of all data sets in one list."""
    return [pair for pairs in groups.values() for pair in pairs]
