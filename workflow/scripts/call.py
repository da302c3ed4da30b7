"""Call the function that a rule names with what the rule gives it."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.files.declared import resolve

    given = dict(snakemake.params.given)
    if "effort" in dict(snakemake.params):
        from deepcac.judging.trials import Effort

        given["effort"] = Effort(**snakemake.params.effort)
    resolve(snakemake.params.call)(**given)
