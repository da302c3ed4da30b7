"""Score all contenders of one published division."""

from deepcac.job import job

with job(snakemake):
    from deepcac.judge.division_scores import write_division

    write_division(snakemake.output[0], snakemake.input.records)
