"""Read both archives of PhysioNet 2019 into one tidy hourly table."""

from deepcac.job import job

with job(snakemake):
    from deepcac.sources.physionet2019 import extract

    extract({"A": snakemake.input.A, "B": snakemake.input.B}, snakemake.output.tidy)
