"""Functions that Snakemake calls: the layout of files, jobs, sharing and DVC pointers."""
