"""Clustering-aware classification: CAC, DeepCAC and relatives.

The names below are loaded when they are first used, so that nothing imports torch that does
not train a network.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "CACClassifier": "deepcac.cac.estimator",
    "CACClassifierCV": "deepcac.cac.cross_validated",
    "ClassDecompositionClassifier": "deepcac.decomposition.classifier",
    "KMClassifier": "deepcac.cac.km",
    "DeepCACClassifier": "deepcac.nn.deepcac",
    "SupervisedKMeans": "deepcac.similarity.supervised",
    "CostCurveDisplay": "deepcac.displays",
    "SilhouetteDisplay": "deepcac.displays",
    "SubtypeProfileDisplay": "deepcac.displays",
    "load": "deepcac.model_files",
    "save": "deepcac.model_files",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'deepcac' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
