"""Scores, intervals, tests, and what sets subtypes apart."""
