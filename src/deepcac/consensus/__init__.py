"""Consensus of classifiers and clusterings: EC3, a rival of CAC."""
