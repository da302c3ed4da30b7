"""Clustering-aware classification (000_*, 001_*, 003_* section 6)."""
