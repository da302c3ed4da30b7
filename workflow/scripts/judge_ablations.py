"""Change the parts of the classifier with subtypes one at a time."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.judging.trials import Effort
    from deepcac_study.judge.subtype_ablation import run_ablation

    run_ablation(
        snakemake.input.features,
        snakemake.output[0],
        dataset=snakemake.wildcards.dataset,
        effort=Effort(**snakemake.params.effort),
        grouped=snakemake.params.grouped,
    )
