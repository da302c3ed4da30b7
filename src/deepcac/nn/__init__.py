"""Deep clustering classifiers; the only package that imports torch."""
