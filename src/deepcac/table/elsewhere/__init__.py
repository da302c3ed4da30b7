"""Models with and without clusters, tested on patients of another place."""
