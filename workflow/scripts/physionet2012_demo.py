"""Write synthetic raw files in the format of PhysioNet Challenge 2012."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.simulate.physionet2012 import write_raw

    write_raw(
        Path(snakemake.output.notice).parent,
        snakemake.params.stays,
        snakemake.params.seed,
    )
