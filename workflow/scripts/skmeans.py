"""Learn the similarity of k-means on example clusterings, and test it on those left out."""

from deepcac.job import job

with job(snakemake):
    from deepcac.catalogue.config import Budget
    from deepcac.experiments.example_clusterings import write_experiment
    from deepcac.features.pairwise import read_pairwise

    names = snakemake.wildcards
    budget = Budget.model_validate(snakemake.params.budget)
    data = read_pairwise(snakemake.input.features)
    write_experiment(snakemake.output[0], data, names.dataset, names.method, budget)
