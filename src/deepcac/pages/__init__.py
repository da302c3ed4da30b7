"""Figures and templates of every HTML page."""
