"""Networks, their centroids and their heads."""
