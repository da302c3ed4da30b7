"""A table of one's own: read, checked and encoded."""
