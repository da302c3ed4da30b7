"""Tables judged in one job each, and what of a table says beforehand that clusters help."""
