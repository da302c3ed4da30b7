"""Clustering-aware classification: CAC, DeepCAC and relatives.

The names below are loaded when they are first used, so that nothing imports torch that does
not train a network.
"""

from importlib import import_module
from typing import Any

__version__ = "2.0.0"

_HOMES = {
    "CACClassifier": "deepcac.cac.estimator",
    "CACClassifierCV": "deepcac.cac.cross_validated",
    "ClassDecompositionClassifier": "deepcac.decomposition.classifier",
    "KMClassifier": "deepcac.cac.km",
    "DeepCACClassifier": "deepcac.nn.deepcac",
    "SupervisedKMeans": "deepcac.similarity.supervised",
    "CostCurveDisplay": "deepcac.displays",
    "SequenceSummary": "deepcac.sequence_summary",
    "SubtypeClassifier": "deepcac.subtyping.subtype_classifier",
    "SilhouetteDisplay": "deepcac.displays",
    "SubtypeProfileDisplay": "deepcac.displays",
    "load": "deepcac.persistence.model_files",
    "save": "deepcac.persistence.model_files",
}

# What a name needs beyond the core: its module, as imported, and the extra that brings it.
_EXTRAS = {"torch": "nn", "safetensors": "nn", "qpsolvers": "similarity"}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'deepcac' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        extra = _EXTRAS[error.name]
        message = f"{name} needs {error.name}: pip install 'deepcac[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error


def __dir__() -> list[str]:
    return sorted(__all__)
