"""Make drawn records again and compare them with those that ship."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.jobs.spot_runs import spot_check

    params = snakemake.params
    spot_check(params.project, params.folder, **params.asked, cores=snakemake.threads)
