"""Time the training of supervised k-means on generated sets of growing size."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.experiments.learning_times import write_times

    write_times(snakemake.output[0], snakemake.params.sets)
