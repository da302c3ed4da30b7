"""Write synthetic raw files in the format of PhysioNet Challenge 2012."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.icu_stays import simulate

    simulate(Path(snakemake.output.notice).parent, n=snakemake.params.n)
