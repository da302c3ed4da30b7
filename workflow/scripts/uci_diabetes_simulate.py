"""Write synthetic hospital stays in the raw format of UCI 296."""

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.encounters import simulate

    simulate(snakemake.output.archive, n=snakemake.params.n)
