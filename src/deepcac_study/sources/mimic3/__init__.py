"""MIMIC-III v1.4: from its CSV tables to tidy tables, out of core.

The tables may be the credentialed full set, the open demo (100 patients) or generated ones; they
are read by DuckDB where they lie. Five steps, one module each: `tables` finds and opens the raw
tables, `items` is the list of measurements with their units, `stays` are the ICU stays and their
demographics, `scan` is the one pass over the event tables, and `summaries` are the hourly values
and the aggregates of each stay.
"""

from deepcac_study.sources.mimic3.extract import extract

__all__ = ["extract"]
