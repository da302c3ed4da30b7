# The sound ones; runs with others share a job that makes them.
rule clusterings:
    input:
        features=lambda wildcards: layout.feature_file("", wildcards.dataset),
        splits=lambda wildcards: layout.split_file("", wildcards.dataset),
    output:
        clusterings="data/clusterings/{dataset}_k{k}.parquet",
    log:
        "logs/clusterings/{dataset}_k{k}.log",
    benchmark:
        "logs/benchmarks/clusterings/{dataset}_k{k}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    params:
        code=code_digest("deepcac.cac"),
        call="deepcac_study.experiments.clustering_files.write_all_clusterings",
        family="cac",
        n_splits=None,
    script:
        "../scripts/experiment.py"


rule pretrain:
    input:
        features=lambda wildcards: layout.feature_file(
            wildcards.variant, wildcards.dataset
        ),
        splits=lambda wildcards: layout.split_file(wildcards.variant, wildcards.dataset),
    output:
        autoencoders="data/pretrained/{variant}{dataset}.safetensors",
    log:
        "logs/pretrain/{variant}{dataset}.log",
    benchmark:
        "logs/benchmarks/pretrain/{variant}{dataset}.tsv"
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        code=code_digest("deepcac.nn"),
        call="deepcac_study.experiments.networks.deep_methods.pretrain_tasks",
        family="deep",
        n_splits=None,
    script:
        "../scripts/experiment.py"
