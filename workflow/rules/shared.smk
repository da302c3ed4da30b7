# What networks on a table start from.
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
    priority: FIRST
    conda:
        "../../envs/deepcac.yaml"
    resources:
        mem_mb=grows(4000),
    params:
        code=code_digest("deepcac_study.experiments.networks.deep_methods"),
        call="deepcac_study.experiments.networks.deep_methods.pretrain_tasks",
        family="deep",
        n_splits=None,
    script:
        "../scripts/experiment.py"
