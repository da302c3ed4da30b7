"""How the columns of a table are described, and their cells read."""
