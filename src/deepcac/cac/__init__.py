"""Clustering-aware classification (000_*, 001_*, 003_* section 6)."""

from deepcac.cac.cluster import Clustering, cluster
from deepcac.cac.estimator import CACClassifier, CollapseWarning
from deepcac.cac.km import KMClassifier

__all__ = ["CACClassifier", "Clustering", "CollapseWarning", "KMClassifier", "cluster"]
