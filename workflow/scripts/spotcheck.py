"""Make drawn records again and compare them with those that ship."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.jobs.spot_runs import spot_check

    params = snakemake.params
    given = {**params.asked, "places": params.places, "cores": snakemake.threads}
    spot_check(params.project, params.folder, **given)
