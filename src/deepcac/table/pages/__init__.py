"""Pages about a table of one's own."""
