"""One page per paper: its tables with our numbers, its figures, its experiments."""
