"""Write one synthetic archive in the raw format of PhysioNet 2019."""

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.hourly_stays import simulate

    simulate(
        snakemake.output.archive,
        snakemake.wildcards.hospital,
        n=snakemake.params.n,
    )
