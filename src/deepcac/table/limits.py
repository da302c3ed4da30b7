"""How much of a table is used if nobody says."""

MOST_ROWS = 20_000  # of more rows a sample is used
