"""From the names a paper prints to the ids of this project, and back to names for people.

The mapping itself is `names.csv`: kind (dataset or method), paper, printed name, id, the number
of clusters that a blank in the print stands for, and what a reader needs to get the data.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

PAPERS = {
    "cac_v1": "CAC, Don't Just Divide (v1)",
    "cac_v2": "CAC, A Clustering Based Framework (v2)",
    "deepcac": "DeepCAC",
    "skmeans": "Supervised k-means",
    "classdecomp": "Class decomposition",
    "authors": "Logs of the DeepCAC authors",
}
BASE_CLASSIFIERS = {
    "lr": "LR",
    "svm": "linear SVM",
    "lda": "LDA",
    "perceptron": "Perceptron",
    "rf": "Random forest",
    "knn": "k-NN",
    "sgd": "SGD",
    "ridge": "Ridge",
    "xgb": "XGBoost",
}
_OTHER_METHODS = {
    "nearest_centroid": "Nearest class centroid",
    "ec3": "EC3",
    "fnn": "FNN",
    "km_z": "KM-Z",
    "dcn_z": "DCN-Z",
    "idec_z": "IDEC-Z",
    "dmnn": "DMNN",
    "cac_dmnn": "CAC+DMNN",
    "ac_tpc": "AC-TPC",
    "grasp": "GRASP",
    "deepcac": "DeepCAC",
}
_THREE_CLUSTERS = {"credit"}


@dataclass(frozen=True)
class Name:
    """One row of the mapping.

    Attributes
    ----------
    id : str
        Id in this project; empty where there is none.
    k : int or None
        Clusters that a blank k in the print stands for.
    needs : str
        What gives access to the data; empty for open data.
    """

    id: str
    k: int | None
    needs: str


@cache
def names() -> dict[tuple[str, str, str], Name]:
    """Return the mapping by (kind, paper, printed name)."""
    text = (resources.files("deepcac.papers") / "names.csv").read_text(encoding="utf-8")
    return {
        (row["kind"], row["paper"], row["printed"]): Name(
            row["id"], int(row["k"]) if row["k"] else None, row["needs"]
        )
        for row in csv.DictReader(text.splitlines())
    }


def clusters(printed_k: str, method: Name, dataset: str, paper: str) -> int | None:
    """Return the k of the run that a printed cell asks for.

    Parameters
    ----------
    printed_k : str
        As printed; empty where the paper does not say.
    method : Name
        Of the printed method. Where the print is blank, a clustered method of the CAC papers
        has k = 2, and 3 on Credit in CAC v1 (section 6.2).
    dataset : str
        Id of the data set.
    paper : str
        Key of `PAPERS`.
    """
    if printed_k:
        return int(printed_k)
    v1 = paper == "cac_v1" and method.k and method.k > 1
    return usual_k(dataset) if v1 else method.k


def usual_k(dataset: str) -> int:
    """Return the number of clusters of CAC v1 for a data set (section 6.2)."""
    return 3 if dataset in _THREE_CLUSTERS else 2


def method_label(method: str) -> str:
    """Return a method id as people write it, for example ``CAC+LR`` for ``cac_lr``."""
    sequence = " (sequence)" if method.endswith("_ts") else ""
    stem = method.removesuffix("_ts")
    if stem in _OTHER_METHODS:
        return _OTHER_METHODS[stem] + sequence
    for prefix, label in (("km_", "KM+"), ("cac_", "CAC+")):
        if stem.removeprefix(prefix) in BASE_CLASSIFIERS and stem.startswith(prefix):
            return label + BASE_CLASSIFIERS[stem.removeprefix(prefix)]
    return BASE_CLASSIFIERS.get(stem, method) + sequence
