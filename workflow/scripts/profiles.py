"""Profile every feature file: sizes, classes, gaps and ranges, without its rows."""

from deepcac.job import job

with job(snakemake):
    from deepcac.report.profiling import build

    for one in snakemake.params.each:
        build(**one)
