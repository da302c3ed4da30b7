"""The alphas that the papers print, by data set and base classifier.

Those of Srivastava et al. 2021: "Don't Just Divide; Polarize and Conquer!" (CAC v1) Table 3, "CAC:
A Clustering Based Framework for Classification" (CAC v2) Table 4, and "Clustering Aware
Classification for Risk Prediction & Subtyping in Clinical Data" (DeepCAC) Table 4.
"""

from functools import cache

from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.published.datasets import imitated

_V2 = "cac_v2_table4_alpha"
_TABLES = ("cac_v1_table3_alpha", "deepcac_table4_alpha", _V2)
ANY = ""  # CAC v2 prints one alpha a data set, for every classifier


@cache
def _printed(tables: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Return alphas by ids of data set and classifier; the first table that prints one counts."""
    ids = {(row["kind"], row["paper"], row["printed"]): row["id"] for row in facts("names")}
    alphas: dict[tuple[str, str], float] = {}
    for name in tables:
        for row in facts(name):
            dataset = ids["dataset", row["paper"], row["dataset"]]
            column = row.get("classifier") or row["method"]
            classifier = ids["classifier", row["paper"], column]
            alphas.setdefault((dataset, classifier), float(row["alpha"]))
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
    alphas = _printed((_V2,) if v2 else _TABLES)
    own = alphas.get((imitated(dataset), classifier))
    return alphas.get((imitated(dataset), ANY)) if own is None else own


def given_alpha(dataset: str, classifier: str, protocol: Protocol) -> float | None:
    """Return the printed alpha where a protocol takes it (A11); None where alpha is tuned."""
    if "A11" not in protocol:
        return None
    return printed_alpha(dataset, classifier, v2="V2" in protocol)
