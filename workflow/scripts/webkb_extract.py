"""Read the saved web pages: words and links of each."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.webkb import extract

    out = snakemake.output
    extract(snakemake.input.archive, out.pages, out.words, out.links)
