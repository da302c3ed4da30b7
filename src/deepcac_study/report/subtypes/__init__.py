"""A page a run for its subtypes: who they are, and how far to trust them."""
