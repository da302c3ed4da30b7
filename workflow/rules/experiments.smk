# Experiments on the splits of one data set. By rule: the file, the function that makes its table, a
# split at a time, how many splits, and whether it starts from the pre-trained networks.
_EXPERIMENTS = {
    "alpha_sweep": ("sweeps/alpha_{dataset}_k{k}", "sweeps.alpha_sweep", 2, False),
    "weight_sweep": ("sweeps/weights_{dataset}_k{k}", "sweeps.weight_sweep", 2, True),
    # Can the latents be trained with the separation term of CAC, or with AM-softmax alone?
    "separation_sweep": (
        "sweeps/separation_{dataset}_k{k}",
        "networks.class_separation.separation_sweep",
        None,
        True,
    ),
    # What does a switch do to a network, and what another start of its autoencoder?
    "start_sweep": (
        "sweeps/starts_{dataset}_k{k}",
        "networks.switch_starts.start_sweep",
        None,
        False,
    ),
    # Both sides of the papers' theorems.
    "theory": ("theory/{dataset}_k{k}", "theory.theorems.theory", 1, False),
}


for experiment, (place, function, n_splits, of_networks) in _EXPERIMENTS.items():

    rule:
        name:
            experiment
        input:
            features=features_of,
            splits="data/splits/{dataset}.parquet",
            pretrained=["data/pretrained/{dataset}.safetensors"] * of_networks,
            runs=first_starts if experiment == "start_sweep" else [],
        output:
            f"results/{place}.{'json' if experiment == 'theory' else 'parquet'}",
        log:
            f"logs/{place}.log",
        benchmark:
            f"logs/benchmarks/{place}.tsv"
        priority: LONG
        conda:
            "../../envs/deepcac.yaml"
        resources:
            mem_mb=grows(4000),
            runtime=grows(120),
        params:
            code=code_digest(f"deepcac_study.experiments.{function.rpartition('.')[0]}"),
            call=f"deepcac_study.experiments.{function}",
            family="cac" if experiment in ("alpha_sweep", "theory") else "deep",
            n_splits=n_splits,
        script:
            "../scripts/experiment.py"


rule grid_sweep:
    input:
        rules.synthetic_grid.output.features,
    output:
        "results/sweeps/grid.parquet",
    log:
        "logs/sweeps/grid.log",
    benchmark:
        "logs/benchmarks/sweeps/grid.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac_study.experiments.sweeps"),
        call="deepcac_study.experiments.sweeps.write_grid",
        given=lambda wildcards, input, output: {"path": output[0], "cells": list(input)},
    script:
        "../scripts/call.py"


rule case_study:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
        pretrained=lambda wildcards: layout.shared_file(
            wildcards.variant, wildcards.dataset, "deepcac"
        ),
        scores="results/{variant}{dataset}/deepcac_k{k}.scores.parquet",
    output:
        summary="results/case_study/{variant}{dataset}_k{k}.json",
        features="results/case_study/{variant}{dataset}_k{k}.features.parquet",
        plane="results/case_study/{variant}{dataset}_k{k}.plane.parquet",
    log:
        "logs/case_study/{variant}{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/case_study/{variant}{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.case_study"),
        call="deepcac_study.experiments.case_study.write_case_study",
        family="deep",
        n_splits=None,
    script:
        "../scripts/experiment.py"
