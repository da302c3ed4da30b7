"""Scores, intervals, tests, and how subtypes differ."""
