"""Measure what the theory of supervised k-means says."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.experiments.oracle_checks import write_checks

    write_checks(snakemake.output[0])
