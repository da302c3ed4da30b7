rule alpha_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
    output:
        "results/sweeps/alpha_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/alpha_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/alpha_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.sweeps"),
    script:
        "../scripts/sweep_alpha.py"


rule weight_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/sweeps/weights_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/weights_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/weights_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.sweeps"),
    script:
        "../scripts/sweep_weights.py"


# Can the latents be trained with the separation term of CAC, or with AM-softmax alone?
rule separation_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/sweeps/separation_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/separation_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/separation_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.class_separation"),
    script:
        "../scripts/sweep_separation.py"


# What does a switch do to a network, and what another start of its autoencoder?
rule start_sweep:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
    output:
        "results/sweeps/starts_{dataset}_k{k}.parquet",
    log:
        "logs/sweeps/starts_{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/sweeps/starts_{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.switch_starts"),
    script:
        "../scripts/sweep_starts.py"


# What DeepCAC's clusters are worth: k, the weight of their term, the head on the same latents.
rule factorial:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
        pretrained="data/pretrained/{dataset}.safetensors",
    output:
        "results/factorial/{dataset}.parquet",
    log:
        "logs/factorial/{dataset}.log",
    benchmark:
        "logs/benchmarks/factorial/{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.factorial"),
    script:
        "../scripts/factorial.py"


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
    script:
        "../scripts/sweep_grid.py"


rule theory:
    input:
        features="data/features/{dataset}.parquet",
        splits="data/splits/{dataset}.parquet",
    output:
        "results/theory/{dataset}_k{k}.json",
    log:
        "logs/theory/{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/theory/{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    params:
        code=code_digest("deepcac_study.experiments.theorems"),
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/theory.py"


rule case_study:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
        pretrained=lambda wildcards: layout.shared_file(
            wildcards.variant, wildcards.dataset, "deepcac", wildcards.k
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
        synthetic=lambda wildcards: wildcards.dataset.startswith("demo_"),
    script:
        "../scripts/case_study.py"
