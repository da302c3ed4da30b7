"""Columns that several recipes of features share."""
