"""Consensus of classifiers and clusterings: EC3 (baseline of 001_*)."""
