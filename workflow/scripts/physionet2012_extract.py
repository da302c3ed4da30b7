"""Turn the raw archives and outcomes of PhysioNet Challenge 2012 into tidy tables."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.physionet2012 import extract

    extract(
        dict(zip("abc", snakemake.input.archives, strict=True)),
        dict(zip("abc", snakemake.input.outcomes, strict=True)),
        events_path=snakemake.output.events,
        outcomes_path=snakemake.output.outcomes,
        threads=snakemake.threads,
    )
