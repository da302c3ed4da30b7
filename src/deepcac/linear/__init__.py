"""Linear base classifiers and their solver."""
