"""The alphas that the papers print, by data set and base classifier.

Those of Srivastava et al. 2021: "Don't Just Divide; Polarize and Conquer!" (CAC v1) Table 3, "CAC:
A Clustering Based Framework for Classification" (CAC v2) Table 4, and "Clustering Aware
Classification for Risk Prediction & Subtyping in Clinical Data" (DeepCAC) Table 4.
"""

from functools import cache

from deepcac.catalogue.facts import facts
from deepcac.catalogue.protocol import Protocol
from deepcac.published.datasets import imitated

# Base classifiers by their column. CAC v2 prints one alpha a data set, for CAC; the others one a
# data set and classifier.
CLASSIFIERS = {
    "lr": "LR",
    "svm": "SVM",
    "lda": "LDA",
    "perceptron": "Perceptron",
    "rf": "RF",
    "knn": "KNN",
    "sgd": "SGD",
    "ridge": "Ridge",
    "xgb": "XGB",
}
_WITHIN_DMNN = {"cac_dmnn": "DMNN"}
_DATASETS = {
    "titanic": "Titanic",
    "credit": "Credit",  # "Creditcard" in CAC v2
    "adult": "Adult",
    "diabetes": "Diabetes",
    "cic": "CIC",
    "wid_mortality": "WID-M",
    "magic": "Magic",
    "sepsis_signature": "Sepsis",
}
_V2 = "cac_v2_table4_alpha"
_TABLES = ("cac_v1_table3_alpha", "deepcac_table4_alpha", _V2)


@cache
def _printed(tables: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Return alphas by (data set, classifier); the first table that prints one counts."""
    alphas: dict[tuple[str, str], float] = {}
    for name in tables:
        for row in facts(name):
            dataset = row["dataset"].removesuffix("card")
            alphas.setdefault((dataset, row.get("classifier") or "CAC"), float(row["alpha"]))
    return alphas


def printed_alpha(dataset: str, classifier: str, *, v2: bool = False) -> float | None:
    """Return the alpha that the papers print for a data set and base classifier, if any.

    Parameters
    ----------
    dataset : str
        Data set id; generated data (``demo_*``) take that of the data set they stand for.
    classifier : str
        Base classifier id, or ``cac_dmnn`` for CAC inside DMNN.
    v2 : bool
        Look in CAC v2 alone (switch V2).
    """
    known = _DATASETS.get(imitated(dataset), "")
    alphas = _printed((_V2,) if v2 else _TABLES)
    for column in ((CLASSIFIERS | _WITHIN_DMNN).get(classifier, ""), "CAC"):
        if (known, column) in alphas:
            return alphas[known, column]
    return None


def given_alpha(dataset: str, classifier: str, protocol: Protocol) -> float | None:
    """Return the printed alpha where a protocol takes it (A11); None where alpha is tuned."""
    if "A11" not in protocol:
        return None
    return printed_alpha(dataset, classifier, v2="V2" in protocol)
