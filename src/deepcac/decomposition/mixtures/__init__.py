"""Gaussian mixtures, and naive Bayes of mixtures."""
