"""Run the experiment on class decomposition on one data set."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.protocol import Protocol
    from deepcac_study.experiments.decomposition_runs import write_decomposition

    write_decomposition(
        snakemake.output.record,
        snakemake.input.table,
        dataset=snakemake.wildcards.dataset,
        protocol=Protocol.from_folder(snakemake.wildcards.variant),
        label=snakemake.params.label,
        runs=snakemake.params.runs,
        against_rest=snakemake.params.against_rest,
        synthetic=snakemake.params.synthetic,
        threads=snakemake.threads,
    )
