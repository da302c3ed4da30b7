"""Run and store all trials of one contender on a published division of the rows."""

from deepcac.job import job

with job(snakemake):
    from deepcac.judge.contenders import parse_contender
    from deepcac.judge.public_protocols import Division, run_division
    from deepcac.judge.trials import Effort

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
