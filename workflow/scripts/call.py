"""Call the function that a rule names with what the rule gives it."""

from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.files.declared import resolve

    params = dict(snakemake.params)
    given = dict(params.get("settings", {})) | dict(params["given"])
    if "effort" in params:
        from deepcac.judging.trials import Effort

        given["effort"] = Effort(**params["effort"])
    resolve(params["call"])(**given)
