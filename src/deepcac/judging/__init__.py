"""Models with and without clusters, compared on resamples of arrays."""
