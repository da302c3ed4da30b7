"""Run and store all trials of one contender on a published division of the rows."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.judging.contenders import parse_contender
    from deepcac.judging.trials import Effort
    from deepcac_study.judge.public_protocols import Division, run_division

    division = snakemake.params.division
    run_division(
        snakemake.input.features,
        snakemake.output.record,
        parse_contender(snakemake.wildcards.contender),
        Division(division["train"], division["test"]),
        dataset=division["dataset"],
        draws=snakemake.params.draws,
        effort=Effort(**snakemake.params.effort),
        synthetic=division["dataset"].startswith("demo_"),
    )
