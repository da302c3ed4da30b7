"""Supervised k-means: learning the similarity that k-means uses."""
