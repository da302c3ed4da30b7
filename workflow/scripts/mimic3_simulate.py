"""Write synthetic ICU stays as MIMIC-III tables."""

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.mimic3_tables import simulate

    simulate(snakemake.output.raw, n=snakemake.params.n)
