"""Judge planted cohorts of one strength."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.judging.trials import Effort
    from deepcac_study.judge.power import run_planted

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
