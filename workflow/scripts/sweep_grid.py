"""Score LR, KM+LR and CAC+LR on every cell of the synthetic grid, balanced and one to ten."""

from pathlib import Path

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.files.storage import write_table
    from deepcac_study.experiments.sweeps import grid_sweep

    write_table(snakemake.output[0], grid_sweep(Path(snakemake.input[0]).parent))
