"""Deviations of the papers' programs from the text."""
