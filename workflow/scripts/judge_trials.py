"""Run and store all trials of one contender, or of some that share work, on one data set."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from pathlib import Path

    from deepcac.judging.contenders import parse_contender
    from deepcac.judging.trials import Effort
    from deepcac_study.judge.trial_files import run_trials

    run_trials(
        snakemake.input.features,
        {parse_contender(Path(path).stem): path for path in snakemake.output.records},
        dataset=snakemake.wildcards.dataset,
        effort=Effort(**snakemake.params.effort),
        synthetic=snakemake.params.synthetic,
        grouped=snakemake.params.grouped,
    )
