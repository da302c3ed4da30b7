"""The study: the papers from raw data to every printed table, and our own comparison."""
