"""How much of a table is used if nobody says, and how much is read at all."""

MOST_ROWS = 20_000  # of more rows a sample is used
MOST_COLUMNS = 30_000  # of a table that is read
