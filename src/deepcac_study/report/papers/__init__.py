"""A page a paper: its tables beside ours, its figures, its experiments."""
