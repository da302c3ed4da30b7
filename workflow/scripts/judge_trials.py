"""Run and store all trials of one contender on one data set."""

from deepcac.job import job

with job(snakemake):
    from deepcac.judge.contenders import parse_contender
    from deepcac.judge.trials import Effort, run_trials

    run_trials(
        snakemake.input.features,
        snakemake.output.record,
        parse_contender(snakemake.wildcards.contender),
        dataset=snakemake.wildcards.dataset,
        effort=Effort(**snakemake.params.effort),
        synthetic=snakemake.params.synthetic,
        grouped=snakemake.params.grouped,
    )
