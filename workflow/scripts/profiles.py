"""Profile every feature file: sizes, classes, gaps and ranges, without its rows."""

from deepcac.job import job

with job(snakemake):
    from deepcac.report.profiling import build_all

    build_all(snakemake.input.features, snakemake.output.profiles, snakemake.params.options)
