"""Tidy records to feature matrices."""
