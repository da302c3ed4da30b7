"""Call the function that a rule names with the rule's named inputs, outputs and parameters."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac.files.declared import resolve
    from deepcac_study.jobs.steps import call, rule_arguments

    offered = {**snakemake.wildcards, "threads": snakemake.threads}
    call(resolve(snakemake.params.call), rule_arguments(snakemake), offered)
