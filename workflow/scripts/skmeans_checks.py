"""Measure what the theory of supervised k-means says."""

from deepcac.job import job

with job(snakemake):
    from deepcac.experiments.oracle_checks import write_checks

    write_checks(snakemake.output[0])
