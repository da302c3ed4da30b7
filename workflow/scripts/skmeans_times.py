"""Time the training of supervised k-means on generated sets of growing size."""

from deepcac.job import job

with job(snakemake):
    from deepcac.experiments.learning_times import write_times

    write_times(snakemake.output[0], snakemake.params.sets)
