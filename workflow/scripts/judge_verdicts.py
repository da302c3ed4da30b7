"""Compare the stored trials of all contenders."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.judge.judgement_files import write_judgement

    write_judgement(
        snakemake.output.verdicts,
        snakemake.output.summary,
        snakemake.input.trials,
        snakemake.input.planted,
        margin=snakemake.params.margin,
        strict=snakemake.params.strict,
    )
