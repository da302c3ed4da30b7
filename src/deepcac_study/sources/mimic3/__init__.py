"""MIMIC-III v1.4: from its CSV tables to tidy tables, out of core.

The tables may be the credentialed full set, the open demo (100 patients) or generated ones; DuckDB
reads them in place. Five steps, one module each: `raw_tables` finds and opens them,
`items` lists the measurements with their units, `admissions` makes the ICU stays and their
demographics, `scan` is the one pass over the event tables, and `aggregates` makes the hourly values
and the aggregates of each stay.
"""

from deepcac_study.sources.mimic3.extract import extract

__all__ = ["extract"]
