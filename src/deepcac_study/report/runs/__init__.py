"""Runs side by side: scores, effects, curves."""
