"""Read the MIMIC-III tables out of core: ICU stays, hourly values and aggregates."""

from deepcac.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.sources.mimic3 import extract

    extract(
        snakemake.input.raw,
        Path(snakemake.output.stays).parent,
        scratch=snakemake.resources.tmpdir,
        threads=snakemake.threads,
    )
