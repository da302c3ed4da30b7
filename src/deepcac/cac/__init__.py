"""Clustering-aware classification (000_*, 001_*, 003_* section 6)."""

from deepcac.cac.cluster import Clustering, cluster

__all__ = ["Clustering", "cluster"]
