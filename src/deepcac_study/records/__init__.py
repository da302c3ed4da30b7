"""Records of finished work: writing, reading by kind, archives, and comparison of repeats."""
