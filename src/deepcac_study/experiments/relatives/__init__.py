"""The experiments of the related papers: class decomposition and supervised k-means."""
