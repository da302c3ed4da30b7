"""Judge planted cohorts of one strength."""

from deepcac.job import job

with job(snakemake):
    from deepcac.judge.power import run_planted
    from deepcac.judge.trials import Effort

    planted = snakemake.params.planted
    run_planted(
        snakemake.output[0],
        strength=float(snakemake.wildcards.strength),
        cohorts=planted["cohorts"],
        rows=planted["rows"],
        contenders=planted["contenders"],
        effort=Effort(**snakemake.params.effort),
        margin=snakemake.params.margin,
    )
