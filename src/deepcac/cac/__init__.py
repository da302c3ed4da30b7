"""Clustering-aware classification (CAC v1, CAC v2, DeepCAC section 6).

References
----------
Srivastava et al. 2021: three papers, cited as CAC v1, CAC v2 and DeepCAC (``docs/works.md``).
"""

from deepcac.cac.cluster import Clustering, cluster
from deepcac.cac.cross_validated import CACClassifierCV
from deepcac.cac.estimator import CACClassifier
from deepcac.cac.km import KMClassifier
from deepcac.cac.metric_km import MetricKMClassifier
from deepcac.errors import CollapseWarning

__all__ = [
    "CACClassifier",
    "CACClassifierCV",
    "Clustering",
    "CollapseWarning",
    "KMClassifier",
    "MetricKMClassifier",
    "cluster",
]
