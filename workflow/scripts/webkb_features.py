"""Weigh the words of the university pages, with linked pairs for WebKB-L."""

from deepcac.job import job

with job(snakemake):
    from deepcac.cohort import steps, write_cohort
    from deepcac.features.pages import webkb
    from deepcac.features.pairwise import write_pairwise
    from deepcac.storage import read_table

    pages, words, links = (read_table(path) for path in snakemake.input)
    data = webkb(pages, words, links, linked=snakemake.wildcards.kind == "l")
    write_pairwise(snakemake.output.rows, data)
    counts = {"pages": pages.num_rows, "pages of the four universities": len(data.row_id)}
    write_cohort(snakemake.output.cohort, steps(counts), unit="page")
