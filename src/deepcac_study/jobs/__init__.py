"""What Snakemake calls: the layout of files, jobs, sharing and pointers."""
