"""Profile every feature file: sizes, classes, gaps and ranges, without its rows."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.report.profiling import build_all

    build_all(snakemake.input.features, snakemake.output.profiles, snakemake.params.options)
