"""The comparisons of the CAC papers: data sets, classifiers, and (plain, KM, CAC) triples."""

from collections.abc import Mapping, Sequence

from deepcac.papers.evidence import Arm

V1_SETS = ("titanic", "credit", "adult", "diabetes", "cic")
V2_SETS = ("titanic", "magic", "credit", "adult", "diabetes", "sepsis_signature", "cic")
DEEPCAC_SETS = ("diabetes", "cic", "wid_mortality")
V2_METHODS = ("ec3", "lr", "km_lr", "cac_lr", "dmnn", "cac_dmnn")
V1_BASES = ("lr", "svm", "lda", "perceptron", "rf", "knn", "sgd", "ridge")
NINE = (*V1_BASES, "xgb")


def cac_arm(
    paper: str, dataset: str, method: str, metric: str = "f1", *, folds: bool = False
) -> Arm:
    """Return an arm with the k the papers use: 1 without clusters, 3 on Credit in v1, else 2."""
    if method in NINE or method in ("fnn", "ec3"):
        k = 1
    else:
        k = 3 if dataset == "credit" and paper == "cac_v1" else 2
    return Arm(dataset, method, k, metric, paper, folds)


def triples(
    paper: str, sets: Sequence[str], bases: Sequence[str], *, folds: bool = False
) -> dict[str, list[list[Arm]]]:
    """Return (plain, KM, CAC) arms by data set, one triple a classifier."""
    names = [(base, f"km_{base}", f"cac_{base}") for base in bases]
    if paper == "cac_v1":
        names.append(("fnn", "dmnn", "cac_dmnn"))
    return {
        dataset: [
            [cac_arm(paper, dataset, name, folds=folds) for name in triple] for triple in names
        ]
        for dataset in sets
    }


def paired(
    groups: Mapping[str, list[list[Arm]]], first: int, second: int
) -> dict[str, list[tuple[Arm, Arm]]]:
    """Return two of the three arms (0 plain, 1 KM, 2 CAC) of each triple, by data set."""
    return {
        dataset: [(triple[first], triple[second]) for triple in rows]
        for dataset, rows in groups.items()
    }


def flat(groups: Mapping[str, list[tuple[Arm, Arm]]]) -> list[tuple[Arm, Arm]]:
    """Return the comparisons of all data sets in one list."""
    return [pair for pairs in groups.values() for pair in pairs]
