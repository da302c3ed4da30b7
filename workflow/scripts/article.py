"""Set the article; its numbers are read from the tables in docs/results."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.report.article import write_article

    write_article(snakemake.input.text, snakemake.output[0], snakemake.config["project"])
