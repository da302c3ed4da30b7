"""Write docs/data.md from the registry."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.describe import write_description

    write_description("config/registry", snakemake.output.page)
