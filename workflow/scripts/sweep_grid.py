"""Score LR, KM+LR and CAC+LR on every cell of the synthetic grid, balanced and one to ten."""

from pathlib import Path

from deepcac.job import job

with job(snakemake):
    from deepcac.experiments.sweeps import grid_sweep
    from deepcac.storage import write_table

    write_table(snakemake.output[0], grid_sweep(Path(snakemake.input[0]).parent))
