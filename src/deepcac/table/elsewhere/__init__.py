"""Models with and without clusters, judged on patients of another place."""
