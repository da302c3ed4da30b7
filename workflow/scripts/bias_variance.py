"""Split the error of classifiers with and without class decomposition on one data set."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.experiments.bias_variance_runs import write_bias_variance

    write_bias_variance(
        snakemake.output.record,
        snakemake.input.table,
        dataset=snakemake.wildcards.dataset,
        label=snakemake.params.label,
        samples=snakemake.params.samples,
        synthetic=snakemake.params.synthetic,
        threads=snakemake.threads,
    )
