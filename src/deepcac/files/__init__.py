"""Files: written whole or not at all, and checked as they are read."""
