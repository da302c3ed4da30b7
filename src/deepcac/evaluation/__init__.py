"""Metrics, the run loop and the run record."""
