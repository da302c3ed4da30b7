"""Experiments on networks: fits, separation terms, and effects of switches."""
