"""Score all contenders of one published division."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.judge.division_scores import write_division

    write_division(snakemake.output[0], snakemake.input.records)
