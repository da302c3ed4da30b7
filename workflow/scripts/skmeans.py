"""Learn the similarity of k-means on example clusterings, and test it on those left out."""

import sys

sys.path.insert(0, f"{snakemake.config['project']}/src")  # in any environment: the clone's own
from deepcac_study.jobs.job import job

with job(snakemake):
    from deepcac_study.catalogue.config import Budget
    from deepcac_study.experiments.relatives.example_clusterings import write_experiment
    from deepcac_study.features.pairwise import read_pairwise

    names = snakemake.wildcards
    budget = Budget.model_validate(snakemake.params.budget)
    data = read_pairwise(snakemake.input.features)
    write_experiment(snakemake.output[0], data, names.dataset, names.method, budget)
