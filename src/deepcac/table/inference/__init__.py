"""How a table is read, found out from its cells, and the table with its outcome."""
