"""MEDS folders to tables: events up to a prediction time become one row."""
