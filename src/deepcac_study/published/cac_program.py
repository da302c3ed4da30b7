"""Deviations of the published programs from the text, outside the networks.

Class weights, seeds and scaling; the alphas that the papers print, by data set and base classifier.
These are of Srivastava et al. 2021: "Don't Just Divide; Polarize and Conquer!" (CAC v1) Table 3,
"CAC: A Clustering Based Framework for Classification" (CAC v2) Table 4, and "Clustering Aware
Classification for Risk Prediction & Subtyping in Clinical Data" (DeepCAC) Table 4.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from deepcac.feature_matrix import FeatureMatrix
from deepcac.linear.base_classifiers import IN_CLUSTERS
from deepcac.preprocess import standardise_alone
from deepcac.types import Array
from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.catalogue.registry import DEMO

Rows = tuple[npt.NDArray[np.intp], ...]

# What the programs did to one data set alone.
AM_SOFTMAX_WEIGHTS = {"diabetes": 50.0}  # D5, in the authors' logs; 5 elsewhere
_SCALED_BY_SET = frozenset({"cic", "cic_los"})  # A4: sets a, b and c each on their own
_NOT_SCALED = frozenset({"cic_los"})  # L3, of the newest public program
_BALANCED = frozenset({"lr"})  # the one classifier whose classes the program balanced
_V2 = "cac_v2_table4_alpha"
_TABLES = ("cac_v1_table3_alpha", "deepcac_table4_alpha", _V2)
ANY = ""  # CAC v2 prints one alpha per data set, for every classifier


def imitated(dataset: str) -> str:
    """Return the id of the data set that generated data (``demo_*``) imitate."""
    return dataset.removeprefix(DEMO)


def class_weight(arm: str, classifier: str, protocol: Protocol) -> str | None:
    """Return the class weights of an arm, balanced over the whole training part by default.

    A1 balances only the classes of LR, separately in each cluster. W1 also balances in each
    cluster, but for every classifier.
    """
    clustered = arm in ("km", "cac")
    if "A1" in protocol:
        return IN_CLUSTERS if clustered and classifier in _BALANCED else None
    return IN_CLUSTERS if clustered and "W1" in protocol else "balanced"


def classifier_seed(seed: int, protocol: Protocol) -> int:
    """Return the random state of the base classifier; A14 has 0 for every split."""
    return 0 if "A14" in protocol else seed


@cache
def _printed(tables: tuple[str, ...]) -> dict[tuple[str, str], float]:
    """Return alphas by ids of data set and classifier, from the first table that prints one."""
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

    Generated data (``demo_*``) have that of the data set they imitate. The classifier is
    ``cac_dmnn`` for CAC inside DMNN; `v2` searches only CAC v2 (switch V2).
    """
    alphas = _printed((_V2,) if v2 else _TABLES)
    alpha = alphas.get((imitated(dataset), classifier))
    return alphas.get((imitated(dataset), ANY)) if alpha is None else alpha


def given_alpha(dataset: str, classifier: str, protocol: Protocol) -> float | None:
    """Return the printed alpha if the protocol uses it (A11); None if alpha is tuned."""
    if "A11" not in protocol:
        return None
    return printed_alpha(dataset, classifier, v2="V2" in protocol)


def published_scaling(
    features: FeatureMatrix, rows: Rows, dataset: str, family: str, protocol: Protocol
) -> list[Array] | None:
    """Scale the parts of a split as a published program did; None if that was sound.

    A4 (CAC family) standardises every part by its own mean and sd, after CIC's sets a, b and c
    separately. D4 (deep methods) standardises all rows and then every part. L3 does not scale the
    features of the length-of-stay task.
    """
    if family == "cac" and "A4" in protocol:
        by_set = imitated(dataset) in _SCALED_BY_SET
        X = _pool_sets(features) if by_set else np.nan_to_num(features.X)
    elif family == "deep" and "D4" in protocol:
        X = standardise_alone(features.X)
    elif "L3" in protocol and imitated(dataset) in _NOT_SCALED:
        return [np.nan_to_num(features.X[part]) for part in rows]
    else:
        return None
    return [standardise_alone(X[part]) if len(part) else X[part] for part in rows]


def _pool_sets(features: FeatureMatrix) -> Array:
    """Standardise each set of a data set on its own before pooling."""
    pooled = np.empty_like(features.X)
    group = np.asarray(features.group)
    for name in np.unique(group):
        members = group == name
        pooled[members] = standardise_alone(features.X[members])
    return pooled
