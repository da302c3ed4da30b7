"""The study: the papers from raw data to every printed table, and the judge."""
