"""Change the parts of the classifier with subtypes one at a time."""

from deepcac.job import job

with job(snakemake):
    from deepcac.judge.subtype_ablation import run_ablation
    from deepcac.judge.trials import Effort

    run_ablation(
        snakemake.input.features,
        snakemake.output[0],
        dataset=snakemake.wildcards.dataset,
        effort=Effort(**snakemake.params.effort),
        grouped=snakemake.params.grouped,
    )
