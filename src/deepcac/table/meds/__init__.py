"""MEDS folders as tables: events up to a prediction time become one row."""
