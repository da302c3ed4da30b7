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
    threads: 1
    resources:
        mem_mb=4000,
    script:
        "../scripts/pretrain.py"
