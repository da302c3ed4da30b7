"""Generate the synthetic grid of the CAC papers, balanced and one to ten."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.feature_matrix import write_features
    from deepcac_study.simulate.synthetic_cac import grid, synthetic_cac

    folder = Path(snakemake.output.features[0]).parent
    for imbalanced in (False, True):
        for cell in grid(imbalanced=imbalanced):
            write_features(folder / f"{cell.dataset}.parquet", synthetic_cac(cell))
