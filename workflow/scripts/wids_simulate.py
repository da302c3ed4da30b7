"""Write a synthetic training_v2.csv of the WiDS Datathon 2020."""

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.intensive_care_table import simulate

    simulate(snakemake.output.raw, n=snakemake.params.n)
